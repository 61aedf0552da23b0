package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A bandwidth line as memory does it: copies between a buffer and a mapping of a file on the tmpfs,
 * all of whose pages are present, as a pool's are.
 */
final class MemoryCopy implements Line {
  private final Line line;
  private final boolean toMapping;
  private final ByteBuffer buffer;
  private MappedMemory mapping;

  /**
   * @param line what is done in this way
   * @param toMapping the direction of a write, as opposed to a read
   * @param buffer what the line moves at a time
   */
  MemoryCopy(Line line, boolean toMapping, ByteBuffer buffer) {
    this.line = line;
    this.toMapping = toMapping;
    this.buffer = buffer;
  }

  @Override
  public String name() {
    return line.name();
  }

  @Override
  public Unit unit() {
    return line.unit();
  }

  @Override
  public int batch() {
    return line.batch();
  }

  @Override
  public void prepare(BenchCandidate candidate, int round) throws IOException {
    Path directory = Files.createDirectories(Path.of(candidate.base().toUri()));
    mapping = MappedMemory.create(directory.resolve("file"), (long) batch() * buffer.capacity());
    // A pool's pages are also written before they are read.
    for (int i = 0; i < batch(); i++) {
      block(i).put(0, buffer, 0, buffer.capacity());
    }
  }

  @Override
  public void run(BenchCandidate candidate, int round) {
    for (int i = 0; i < batch(); i++) {
      if (toMapping) {
        block(i).put(0, buffer, 0, buffer.capacity());
      } else {
        buffer.put(0, block(i), 0, buffer.capacity());
      }
    }
  }

  @Override
  public void finish(BenchCandidate candidate, int round) throws Exception {
    mapping.close();
    Line.super.finish(candidate, round);
  }

  private ByteBuffer block(int number) {
    return mapping.slice((long) number * buffer.capacity(), buffer.capacity());
  }
}
