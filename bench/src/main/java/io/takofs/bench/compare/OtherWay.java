package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;

/** A line whose work is done in another way than by a file system, under the line's own name. */
abstract class OtherWay implements Line {
  private final Line line;

  /**
   * @param line what is done in this way
   */
  OtherWay(Line line) {
    this.line = line;
  }

  @Override
  public final String name() {
    return line.name();
  }

  @Override
  public final Unit unit() {
    return line.unit();
  }

  @Override
  public final int batch() {
    return line.batch();
  }
}
