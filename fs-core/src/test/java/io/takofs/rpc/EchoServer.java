package io.takofs.rpc;

import io.takofs.proto.Reply;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Answers {@code GetFile} with its path as the message. A path that begins with "hold" is answered
 * when {@link #release} is called, one that begins with "large" with more than a slot takes; one
 * that begins with "break" breaks the server.
 */
public final class EchoServer implements RpcHandler, DataHandler, AutoCloseable {
  static final long EPOCH = 7;

  public final RpcServer rpc;
  private final Transport.Listener listener;
  private final List<IncomingCall> held = new ArrayList<>();

  public EchoServer(Transport transport, String endpoint) throws IOException {
    Map<ConnectionKind, RpcHandler> calls =
        Map.of(ConnectionKind.RPC, this, ConnectionKind.CONTROL, new ControlEcho());
    rpc = new RpcServer(transport, new RpcServices(calls, this), EPOCH, 40);
    listener = transport.listen(endpoint, rpc.acceptor());
  }

  public String endpoint() {
    return listener.endpoint();
  }

  @Override
  public void onCalls(List<IncomingCall> calls) {
    for (IncomingCall call : calls) {
      String path = call.request().getGetFile().getPath();
      if (path.startsWith("hold")) {
        synchronized (held) {
          held.add(call);
        }
      } else if (path.startsWith("break")) {
        throw new OutOfMemoryError("as the test wants it");
      } else if (path.startsWith("large")) {
        call.reply(Reply.newBuilder().setMessage("x".repeat(70_000)).build());
      } else {
        call.reply(echo(call));
      }
    }
  }

  /** Says that a call came over a connection of its kind. */
  private final class ControlEcho implements RpcHandler {
    @Override
    public void onCalls(List<IncomingCall> calls) {
      for (IncomingCall call : calls) {
        if (call.request().getGetFile().getPath().startsWith("echo")) {
          call.reply(Reply.newBuilder().setMessage("over " + call.connection().kind()).build());
        } else {
          EchoServer.this.onCalls(List.of(call));
        }
      }
    }

    @Override
    public void onDisconnected(RpcConnection connection) {}
  }

  int heldCount() {
    synchronized (held) {
      return held.size();
    }
  }

  void release() {
    List<IncomingCall> calls;
    synchronized (held) {
      calls = List.copyOf(held);
      held.clear();
    }
    calls.forEach(call -> call.reply(echo(call)));
  }

  private static Reply echo(IncomingCall call) {
    return Reply.newBuilder().setMessage(call.request().getGetFile().getPath()).build();
  }

  @Override
  public void onDisconnected(RpcConnection connection) {}

  @Override
  public ProtectionDomain admitDataConnection(Transport transport, long clientId)
      throws IOException {
    throw new IOException("no data here");
  }

  @Override
  public void onDataAborted(Transport transport, ProtectionDomain domain) {}

  @Override
  public void onDataConnected(
      Transport transport, ConnectionInfo client, QueuePair pair, ProtectionDomain domain) {}

  @Override
  public void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {}

  @Override
  public void onDataDisconnected(long clientId, QueuePair pair) {}

  @Override
  public void close() {
    listener.close();
    rpc.close();
  }
}
