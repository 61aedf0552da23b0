package io.takofs.bench.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A process that sends as many MiB over a TCP connection of the loopback as its client asks for,
 * from one direct buffer, with blocking writes. It ends with the JVM that started it, whichever way
 * that ends.
 *
 * <p>Thread rule: one thread.
 */
public final class RawTcpSender implements AutoCloseable {
  private final Process process;
  private final InetSocketAddress address;

  /**
   * Starts it.
   *
   * @param launcher words before the java command, such as a processor placement
   */
  public RawTcpSender(List<String> launcher) throws IOException {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx64m");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(RawTcpSender.class.getName());
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String port = said.readLine();
    if (port == null) {
      throw new IOException("the sender of the raw TCP stream ended before it listened");
    }
    address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
  }

  /** The address at which it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** Its process id. */
  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** Asks for {@code mebibytes} MiB, which then come over the same connection. */
  public static void ask(SocketChannel stream, int mebibytes) throws IOException {
    ByteBuffer request = ByteBuffer.allocate(Integer.BYTES).putInt(mebibytes).flip();
    while (request.hasRemaining()) {
      stream.write(request);
    }
  }

  /** The process: says its port, then serves until its input ends. */
  public static void main(String[] arguments) throws IOException {
    ServerSocketChannel listener =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread serving = new Thread(() -> serve(listener));
    serving.setDaemon(true);
    serving.start();
    System.out.println(listener.socket().getLocalPort());
    while (System.in.read() >= 0) {
      // The parent writes nothing: only the end of the input counts.
    }
  }

  /** One connection after the other: a line has one at a time. */
  private static void serve(ServerSocketChannel listener) {
    byte[] bytes = new byte[BandwidthLines.MEBIBYTE];
    new Random(1).nextBytes(bytes);
    ByteBuffer block = ByteBuffer.allocateDirect(bytes.length).put(bytes);
    while (true) {
      try (SocketChannel stream = listener.accept()) {
        stream.setOption(StandardSocketOptions.TCP_NODELAY, true);
        send(stream, block);
      } catch (IOException e) {
        System.err.println("raw TCP stream: " + e);
      }
    }
  }

  private static void send(SocketChannel stream, ByteBuffer block) throws IOException {
    ByteBuffer request = ByteBuffer.allocate(Integer.BYTES);
    while (stream.read(request) >= 0) {
      if (request.hasRemaining()) {
        continue;
      }
      for (int left = request.getInt(0); left > 0; left--) {
        block.clear();
        while (block.hasRemaining()) {
          stream.write(block);
        }
      }
      request.clear();
    }
  }
}
