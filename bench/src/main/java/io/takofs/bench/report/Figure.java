package io.takofs.bench.report;

/** A row that is no more than its name and unit. */
public record Figure(String name, Unit unit) implements Row {}
