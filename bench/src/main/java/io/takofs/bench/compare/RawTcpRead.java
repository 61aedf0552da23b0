package io.takofs.bench.compare;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A line of reads as a bare TCP stream does it: a blocking channel reads what a {@link
 * RawTcpSender} sends. Nothing looks at the bytes, which a file system checks.
 */
final class RawTcpRead extends OtherWay {
  private final ByteBuffer buffer;
  private SocketChannel stream;

  /**
   * @param line what is done in this way
   * @param buffer for what the line moves at a time; into an array the channel copies the bytes
   */
  RawTcpRead(Line line, ByteBuffer buffer) {
    super(line);
    this.buffer = buffer;
  }

  @Override
  public void prepare(BenchCandidate candidate, int round) throws IOException {
    stream = SocketChannel.open(candidate.sender());
  }

  @Override
  public void run(BenchCandidate candidate, int round) throws IOException {
    RawTcpSender.ask(stream, batch());
    for (int i = 0; i < batch(); i++) {
      buffer.clear();
      while (buffer.hasRemaining()) {
        if (stream.read(buffer) < 0) {
          throw new EOFException("the raw stream ends after " + i + " of " + batch() + " MiB");
        }
      }
    }
  }

  @Override
  public void finish(BenchCandidate candidate, int round) throws IOException {
    stream.close();
  }
}
