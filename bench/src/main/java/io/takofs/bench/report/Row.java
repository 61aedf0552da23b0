package io.takofs.bench.report;

/** A row of the table: something that every candidate does. */
public interface Row {
  /** Name in the table and in the JSON. */
  String name();

  /** The unit of the figures. */
  Unit unit();
}
