package io.takofs.bench.micro;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The CPU time of file data: every byte written or read is checksummed once, by its client. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ChecksumBenchmark {
  /**
   * A granule, the unit that a small read verifies, and the unit that a stream copies and then
   * checksums.
   */
  @Param({"4096", "65536"})
  public int bytes;

  private final CRC32C crc = new CRC32C();
  private ByteBuffer data;

  @Setup
  public void fill() {
    byte[] random = new byte[bytes];
    new Random(1).nextBytes(random);
    data = ByteBuffer.allocateDirect(bytes).put(random).clear();
  }

  /** Granule by granule, as streams do; bounds how fast one thread can read and write. */
  @Benchmark
  public long granules() {
    long all = 0;
    for (int at = 0; at < bytes; at += Layout.GRANULE_SIZE) {
      crc.reset();
      crc.update(data.limit(at + Layout.GRANULE_SIZE).position(at));
      all += crc.getValue();
    }
    return all;
  }
}
