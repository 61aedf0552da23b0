package io.takofs.bench.compare;

import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A bandwidth line as memory does it: copies between a buffer and mappings of files on the tmpfs,
 * all of whose pages are present, as a pool's are. There are as many mappings as a write makes
 * copies of each byte.
 */
final class MemoryCopy extends OtherWay {
  private final boolean toMapping;
  private final ByteBuffer buffer;
  private final int copies;
  private final List<MappedMemory> mappings = new ArrayList<>();

  private MemoryCopy(Line line, boolean toMapping, ByteBuffer buffer, int copies) {
    super(line);
    this.toMapping = toMapping;
    this.buffer = buffer;
    this.copies = copies;
  }

  /**
   * A write.
   *
   * @param line what is done in this way
   * @param source what the line moves at a time
   * @param copies of each byte, made one after the other
   */
  static MemoryCopy write(Line line, ByteBuffer source, int copies) {
    return new MemoryCopy(line, true, source, copies);
  }

  /**
   * A read.
   *
   * @param line what is done in this way
   * @param target what the line moves at a time
   */
  static MemoryCopy read(Line line, ByteBuffer target) {
    return new MemoryCopy(line, false, target, 1);
  }

  @Override
  public void prepare(BenchCandidate candidate, int round) throws IOException {
    Path directory = Files.createDirectories(Path.of(candidate.base().toUri()));
    for (int copy = 0; copy < copies; copy++) {
      mappings.add(
          MappedMemory.create(
              directory.resolve("file-" + copy), (long) batch() * buffer.capacity()));
    }
    // A pool's pages are also written before they are read.
    write();
  }

  @Override
  public void run(BenchCandidate candidate, int round) {
    if (toMapping) {
      write();
      return;
    }
    for (int i = 0; i < batch(); i++) {
      buffer.put(0, block(mappings.get(0), i), 0, buffer.capacity());
    }
  }

  @Override
  public void finish(BenchCandidate candidate, int round) throws Exception {
    mappings.forEach(MappedMemory::close);
    mappings.clear();
    super.finish(candidate, round);
  }

  private void write() {
    for (int i = 0; i < batch(); i++) {
      for (MappedMemory mapping : mappings) {
        block(mapping, i).put(0, buffer, 0, buffer.capacity());
      }
    }
  }

  private ByteBuffer block(MappedMemory mapping, int number) {
    return mapping.slice((long) number * buffer.capacity(), buffer.capacity());
  }
}
