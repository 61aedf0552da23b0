package io.takofs.transport.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.Clock;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** Connects as often as it is told, in a process of its own, and waits to be killed. */
final class ConnectedProcess {
  private static final String CONNECTED = "connected";

  private ConnectedProcess() {}

  /** Arguments: endpoint for calls, endpoint for plain pairs, connections of each kind. */
  public static void main(String[] arguments) throws Exception {
    VerbsTransport calls = VerbsTransport.create(Optional.empty());
    ConnectedPair.Side plain = new ConnectedPair.Side(1);
    List<Object> held = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
      held.add(
          RpcClient.connect(
              calls,
              new RpcTarget(ConnectionKind.RPC, arguments[0], "server", 0),
              ConnectedPair.TIMEOUT_NS,
              Clock.SYSTEM));
      held.add(
          plain.transport.connect(
              arguments[1], plain.config(), new byte[0], ConnectedPair.TIMEOUT_NS));
    }
    System.out.println(CONNECTED);
    new CountDownLatch(1).await();
    System.out.println(held);
  }

  /** Starts one and waits until it is connected. */
  static Process start(String calls, String pairs, int count) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                ConnectedProcess.class.getName(),
                calls,
                pairs,
                Integer.toString(count))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String line =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
    if (!CONNECTED.equals(line)) {
      process.destroyForcibly();
      throw new IOException("a process that connects ended early: " + line);
    }
    return process;
  }
}
