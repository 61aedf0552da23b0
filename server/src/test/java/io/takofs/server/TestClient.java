package io.takofs.server;

import com.google.protobuf.ByteString;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Create;
import io.takofs.proto.Delete;
import io.takofs.proto.GetArenas;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GetFile;
import io.takofs.proto.GetServerStatus;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A client that makes single calls, with numbers it chooses. */
final class TestClient implements AutoCloseable {
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final String endpoint;
  private final String user;
  RpcClient rpc;
  SessionTerms session = SessionTerms.getDefaultInstance();
  long sequence;

  /** The last call is not acknowledged, so that it may be repeated. */
  private long acknowledgedBelow;

  /** The announced time of its attempts to connect. */
  private final long connectTimeoutMs;

  TestClient(TestServer server, String user) throws IOException {
    this(server, user, 0);
  }

  TestClient(TestServer server, String user, long connectTimeoutMs) throws IOException {
    this.connectTimeoutMs = connectTimeoutMs;
    this.endpoint = server.endpoint();
    this.user = user;
    reconnect();
  }

  /** Drops the connection, if there is one, and goes on with the session on a new one. */
  void reconnect() throws IOException {
    reconnect(endpoint);
  }

  void reconnect(String to) throws IOException {
    if (rpc != null) {
      rpc.close();
    }
    rpc =
        RpcClient.connect(
            transport,
            new RpcTarget(ConnectionKind.RPC, to, "test", session.getClientId()),
            TIMEOUT_NS,
            Clock.SYSTEM);
    Reply reply = openSession();
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    session = reply.getSession();
  }

  Reply openSession() throws TakoException {
    return call(
        ++sequence,
        Request.newBuilder()
            .setOpenSession(
                OpenSessionRequest.newBuilder()
                    .setProtocolVersion(Layout.PROTOCOL_VERSION)
                    .setLayoutHash(Layout.LAYOUT_HASH)
                    .setUser(user)
                    .setClientName("test")
                    .setConnectTimeoutMs(connectTimeoutMs))
            .build());
  }

  Reply call(Request request) throws TakoException {
    return call(++sequence, request);
  }

  Reply call(long number, Request request) throws TakoException {
    Request numbered = request.toBuilder().setAcknowledgedBelow(acknowledgedBelow).build();
    Reply reply = rpc.call(session.getClientId(), number, numbered, System.nanoTime() + TIMEOUT_NS);
    if (!request.hasOpenSession()) {
      acknowledgedBelow = number;
    }
    return reply;
  }

  static Request mkdirs(String path) {
    return Request.newBuilder()
        .setMkdirs(Mkdirs.newBuilder().setPath(path).setPermission(0755).setCreateParents(true))
        .build();
  }

  static Request create(String path, long grantBytes) {
    return create(path, grantBytes, 1);
  }

  static Request create(String path, long grantBytes, int replication) {
    return Request.newBuilder()
        .setCreate(
            Create.newBuilder()
                .setPath(path)
                .setPermission(0644)
                .setReplication(replication)
                .setBlockSize(128 << 20)
                .setGrantBytes(grantBytes))
        .build();
  }

  static Request grant(OpenedFile file, long bytes) {
    return Request.newBuilder()
        .setGrantExtents(
            GrantExtents.newBuilder()
                .setFileId(file.getFile().getId())
                .setLeaseEpoch(file.getLeaseEpoch())
                .setBytes(bytes))
        .build();
  }

  static Request delete(String path) {
    return Request.newBuilder().setDelete(Delete.newBuilder().setPath(path)).build();
  }

  /** Writes a small file whole. */
  void writeInline(String path, byte[] data) throws TakoException {
    OpenedFile file = ok(call(create(path, 0))).getOpenedFile();
    ok(
        call(
            Request.newBuilder()
                .setCommitExtents(
                    CommitExtents.newBuilder()
                        .setFileId(file.getFile().getId())
                        .setLeaseEpoch(file.getLeaseEpoch())
                        .setInlineData(ByteString.copyFrom(data))
                        .setLength(data.length)
                        .setClose(true)
                        .setAllWritesCompleted(true))
                .build()));
  }

  byte[] readInline(String path) throws TakoException {
    return ok(call(
            Request.newBuilder()
                .setGetExtents(GetExtents.newBuilder().setPath(path).setLimit(10))
                .build()))
        .getExtentMap()
        .getInlineData()
        .toByteArray();
  }

  Reply stat(String path) throws TakoException {
    return call(Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path)).build());
  }

  ServerStatus status() throws TakoException {
    return ok(call(
            Request.newBuilder().setGetServerStatus(GetServerStatus.getDefaultInstance()).build()))
        .getServerStatus();
  }

  static Reply ok(Reply reply) throws TakoException {
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply;
  }

  /** Asks where the arenas are for the connection to the data zone. */
  Reply arenas() throws TakoException {
    return call(Request.newBuilder().setGetArenas(GetArenas.getDefaultInstance()).build());
  }

  /** A connection to the data zone for this session. */
  QueuePair connectData() throws IOException {
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue completions = transport.createCompletionQueue(16);
    return transport.connect(
        endpoint,
        new QueuePairConfig(domain, completions, completions, 16, 0),
        ConnectionInfo.ours(Layout.CONNECTION_DATA, session.getClientId(), 0, 0, 0).pack(),
        TIMEOUT_NS);
  }

  @Override
  public void close() {
    rpc.close();
    transport.close();
  }
}
