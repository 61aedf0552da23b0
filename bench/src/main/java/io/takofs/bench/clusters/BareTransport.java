package io.takofs.bench.clusters;

import io.takofs.bench.compare.RawTcpSender;
import io.takofs.memory.MappedMemory;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Bytes as a transport alone moves them from one server to another. Over shared memory a thread
 * copies between two mapped files of the tmpfs, a MiB at a time; over TCP a process sends a bare
 * stream of the loopback, which a thread receives. Nobody looks at the bytes.
 *
 * <p>Thread rule: one thread.
 */
final class BareTransport implements AutoCloseable {
  /** MiB of each mapped file: more than caches hold. */
  private static final int FILE_MEBIBYTES = 256;

  private static final int MEBIBYTE = 1 << 20;

  @FunctionalInterface
  private interface Stream {
    void move(int mebibytes) throws IOException;
  }

  private final Deque<Closeable> opened = new ArrayDeque<>();
  private final Stream stream;

  /**
   * @param transport {@code shm} or {@code tcp}
   */
  BareTransport(String transport) throws IOException {
    stream = transport.equals("tcp") ? tcp() : memory();
  }

  private <T extends Closeable> T keep(T resource) {
    opened.push(resource);
    return resource;
  }

  private Stream tcp() throws IOException {
    SocketChannel channel = keep(SocketChannel.open(sender().address()));
    ByteBuffer buffer = ByteBuffer.allocateDirect(MEBIBYTE);
    return mebibytes -> {
      RawTcpSender.ask(channel, mebibytes);
      for (long left = (long) mebibytes * MEBIBYTE; left > 0; left -= buffer.position()) {
        buffer.clear().limit((int) Math.min(left, MEBIBYTE));
        if (channel.read(buffer) < 0) {
          throw new EOFException("the bare stream ends early");
        }
      }
    };
  }

  private RawTcpSender sender() throws IOException {
    RawTcpSender sender = new RawTcpSender(List.of());
    keep(sender::close);
    return sender;
  }

  private Stream memory() throws IOException {
    MappedMemory source = mapped();
    MappedMemory target = mapped();
    return mebibytes -> {
      for (int i = 0; i < mebibytes; i++) {
        long at = i % FILE_MEBIBYTES * (long) MEBIBYTE;
        target.slice(at, MEBIBYTE).put(source.slice(at, MEBIBYTE));
      }
    };
  }

  /** A file all of whose pages are there, and were written. */
  private MappedMemory mapped() throws IOException {
    Path file = Files.createTempFile(Path.of("/dev/shm"), "tako-bench-", "");
    keep(() -> Files.deleteIfExists(file));
    Files.delete(file);
    MappedMemory memory = MappedMemory.create(file, (long) FILE_MEBIBYTES * MEBIBYTE);
    keep(memory::close);
    byte[] block = new byte[MEBIBYTE];
    for (int i = 0; i < FILE_MEBIBYTES; i++) {
      memory.slice(i * (long) MEBIBYTE, MEBIBYTE).put(block);
    }
    return memory;
  }

  /**
   * Moves so many MiB.
   *
   * @return nanoseconds that it took
   */
  long move(int mebibytes) throws IOException {
    long start = System.nanoTime();
    stream.move(mebibytes);
    return System.nanoTime() - start;
  }

  @Override
  public void close() throws IOException {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }
}
