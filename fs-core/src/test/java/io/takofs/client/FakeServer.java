package io.takofs.client;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Connector;
import io.takofs.client.internal.session.ServerConnection;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.client.internal.zone.PoolFile;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Arenas;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.ContentCursor;
import io.takofs.proto.ContentSummaryPart;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.Grants;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.rpc.Operations;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A server in the client's process that keeps files in a small arena, executes every call of a
 * session once, and fails in the ways that are asked of it.
 *
 * <p>Thread rule: any thread.
 */
public final class FakeServer implements Connector {
  static final int INLINE_MAX = 2048;
  static final int REPLICATION = 3;
  static final int LEASE_SOFT_LIMIT_MS = 60;
  static final int SESSION_TTL_MS = 4000;

  /** Kinds of connection failure. */
  enum Fault {
    NONE,
    /** Before the request arrives. */
    LOSE_REQUEST,
    /** After the request was executed. */
    LOSE_REPLY,
    /** As LOSE_REPLY, and the session is forgotten. */
    LOSE_REPLY_AND_SESSION,
    /** No answer for as long as the connection stands. */
    STALL
  }

  /** Limits of a server. */
  private static final int GRANTS_MAX = 256;

  private static final int GRANT_EXTENTS_MAX = 64;
  private static final int COMMIT_EXTENTS_MAX = 64;

  private static final Slab OWN =
      Slab.newBuilder().setId(1).setVersion(1).addReplicas(Replica.getDefaultInstance()).build();

  final ByteBuffer arena;
  private final MemoryBudget budget = new MemoryBudget(0);
  private final Arenas shown; // null when it is no file
  private int unitsPerExtent;
  private final Map<String, FakeFile> files = new HashMap<>();
  private final Map<Long, FakeFile> byId = new HashMap<>();
  private final Set<Long> sessions = new HashSet<>();
  private final Map<String, Reply> results = new HashMap<>();
  private final Map<String, Integer> executions = new HashMap<>();
  private final List<Connection> connections = new ArrayList<>();
  private final Map<String, FakeDataServer> dataServers = new HashMap<>();
  private int nextUnit = Layout.ARENA_CHECKSUM_SIZE / Layout.UNIT_SIZE;
  private long nextId = 100;
  private Fault fault = Fault.NONE;
  private int refuseConnections;
  private int connectionsRefused;
  private int unavailable;
  private boolean reclaiming;
  private int stalled;
  private long lastAcknowledged;
  private boolean superuser;
  private FakeSlabs slabs; // null: one of its own, over all of its arena
  private final List<Extent> granted = new ArrayList<>(); // of that

  /** A server with {@code arenaSize} bytes that grants extents of {@code extentSize}. */
  public FakeServer(int arenaSize, int extentSize) {
    this(ByteBuffer.allocateDirect(arenaSize), extentSize, null);
  }

  /** One whose arena is a file of so many bytes, of which it tells clients. */
  static FakeServer overFile(Path file, int arenaSize, int extentSize) throws IOException {
    MappedMemory memory = MappedMemory.create(file, arenaSize);
    Arenas shown =
        Arenas.newBuilder()
            .setDataFile(file.toString())
            .setDataDevice(((Number) Files.getAttribute(file, "unix:dev")).longValue())
            .setDataInode(((Number) Files.getAttribute(file, "unix:ino")).longValue())
            .addArenas(RemoteArena.newBuilder().setLength(arenaSize))
            .build();
    return new FakeServer(memory.slice(0, arenaSize), extentSize, shown);
  }

  private FakeServer(ByteBuffer arena, int extentSize, Arenas shown) {
    this.arena = arena.order(ByteOrder.LITTLE_ENDIAN);
    this.shown = shown;
    unitsPerExtent = extentSize / Layout.UNIT_SIZE;
  }

  // ---- what tests ask for

  /** Grants extents with so many replicas on {@code servers} from now on. */
  synchronized FakeSlabs replicate(int replication, List<FakeDataServer> servers) {
    servers.forEach(server -> dataServers.put(server.name(), server));
    slabs = new FakeSlabs(replication, servers);
    return slabs;
  }

  /** Fails the next call. */
  synchronized void failNext(Fault next) {
    fault = next;
  }

  /** Refuses the next {@code count} connections. */
  public synchronized void refuseConnections(int count) {
    refuseConnections = count;
  }

  /** Number of refused connections. */
  public synchronized int connectionsRefused() {
    return connectionsRefused;
  }

  /** Answers the next {@code count} calls with UNAVAILABLE. */
  synchronized void beUnavailable(int count) {
    unavailable = count;
  }

  /** From now on is full of what was deleted, as long as a caller is ready to wait for it. */
  synchronized void beReclaiming() {
    reclaiming = true;
  }

  /** Takes the file away from its writer. */
  synchronized void endLease(String path) {
    files.get(path).writer = 0;
  }

  /** Forgets all sessions. */
  synchronized void expireSessions() {
    sessions.clear();
  }

  /** Breaks all connections. */
  public synchronized void disconnectAll() {
    connections.forEach(connection -> connection.open = false);
  }

  /** Takes whoever connects from now on for a superuser. */
  synchronized void trustEverybody() {
    superuser = true;
  }

  /** Number of executions of an operation. */
  synchronized int executions(Request.OperationCase operation) {
    return executions.getOrDefault(operation.name(), 0);
  }

  /** Number of calls whose answer is withheld. */
  synchronized int stalled() {
    return stalled;
  }

  /** The sequence that the last call acknowledged. */
  synchronized long lastAcknowledged() {
    return lastAcknowledged;
  }

  synchronized int sessionCount() {
    return sessions.size();
  }

  synchronized int extentCount(String path) {
    return files.get(path).extents.size();
  }

  /** The committed extents of a file. */
  synchronized List<Extent> extents(String path) {
    return List.copyOf(files.get(path).extents.values());
  }

  // ---- Connector

  @Override
  public synchronized ServerConnection connect(long clientId, long deadlineNs)
      throws TakoException {
    if (refuseConnections > 0) {
      refuseConnections--;
      connectionsRefused++;
      throw new TakoException(Status.UNAVAILABLE, "connection refused");
    }
    Connection connection = new Connection();
    connections.add(connection);
    return connection;
  }

  @Override
  public ServerConnection connectData(String name, long clientId, long deadlineNs)
      throws TakoException {
    FakeDataServer server = dataServer(name);
    if (server == null) {
      throw new TakoException(Status.UNAVAILABLE, "connection refused by " + name);
    }
    return server.connect(clientId); // which may take its time, without this lock
  }

  private synchronized FakeDataServer dataServer(String name) {
    return dataServers.get(name);
  }

  @Override
  public ServerConnection connectToAsk(String name, long deadlineNs) throws TakoException {
    return connect(0, deadlineNs);
  }

  @Override
  public void redirect(String leader) {}

  @Override
  public String server() {
    return "fake:1";
  }

  @Override
  public void rest() {}

  @Override
  public MemoryBudget budget() {
    return budget;
  }

  @Override
  public Map<String, TransportCounters> counters() {
    return Map.of();
  }

  @Override
  public void close() {}

  private final class Connection implements ServerConnection {
    private volatile boolean open = true;

    @Override
    public Reply call(long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException {
      synchronized (FakeServer.this) {
        Fault now = request.hasOpenSession() ? Fault.NONE : fault;
        if (now != Fault.NONE) {
          fault = Fault.NONE;
          open = now == Fault.STALL;
        }
        if (now == Fault.STALL) {
          stall(deadlineNs);
        }
        if (!open && now != Fault.LOSE_REPLY && now != Fault.LOSE_REPLY_AND_SESSION) {
          throw new TakoException(Status.DISCONNECTED, "the fake connection is gone");
        }
        Reply reply = execute(clientId, sequence, request);
        if (now == Fault.LOSE_REPLY_AND_SESSION) {
          sessions.clear();
        }
        if (!open) {
          throw new TakoException(Status.DISCONNECTED, "the fake connection broke");
        }
        return reply;
      }
    }

    private void stall(long deadlineNs) throws TakoException {
      stalled++;
      while (open && System.nanoTime() - deadlineNs < 0) {
        try {
          FakeServer.this.wait(1);
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      stalled--;
      if (open) {
        throw new TakoException(Status.DEADLINE_EXCEEDED, "the fake server does not answer");
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public String transportVerdict() {
      return "fake: the server is in this process";
    }

    @Override
    public DataZone openZone(SessionTerms terms, long deadlineNs) {
      ByteBuffer memory = arena.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      return new MappedZone(
          List.of(RemoteArena.newBuilder().setLength(arena.capacity()).build()),
          index -> memory,
          () -> open,
          () -> {},
          () -> shown == null ? null : PoolFile.open(shown));
    }

    @Override
    public void leave() {
      open = false;
    }

    @Override
    public void close() {
      open = false;
    }
  }

  /** Whether somebody has the file open for writing. */
  synchronized boolean isOpenForWriting(String path) {
    return files.get(path).writer != 0;
  }

  // ---- the server

  private Reply execute(long clientId, long sequence, Request request) {
    if (unavailable > 0 && !request.hasOpenSession()) {
      unavailable--;
      return refuse(Status.UNAVAILABLE, "starting");
    }
    if (reclaiming && !request.hasOpenSession()) {
      return refuse(request.getHasWaited() ? Status.QUOTA_EXCEEDED : Status.UNAVAILABLE, "full");
    }
    if (request.hasOpenSession()) {
      return openSession(clientId);
    }
    if (request.hasGetClusterMap()) {
      return executeAndCount(clientId, request); // for anybody
    }
    if (!sessions.contains(clientId)) {
      return refuse(Status.SESSION_EXPIRED, "unknown session");
    }
    if (!Operations.isMutation(request.getOperationCase())) {
      if (sequence >= 0 || request.getAcknowledgedBelow() != 0) {
        return refuse(Status.MALFORMED, "a query with the number of a change");
      }
      return executeAndCount(clientId, request);
    }
    String call = clientId + "/" + sequence;
    Reply known = results.get(call);
    if (known == null) {
      lastAcknowledged = request.getAcknowledgedBelow();
      known = executeAndCount(clientId, request);
      results.put(call, known);
    }
    return known;
  }

  private Reply executeAndCount(long clientId, Request request) {
    executions.merge(request.getOperationCase().name(), 1, Integer::sum);
    Reply reply = execute(clientId, request);
    return slabs == null ? reply.toBuilder().addSlabs(OWN).build() : slabs.show(reply);
  }

  private Reply openSession(long clientId) {
    if (clientId != 0 && !sessions.contains(clientId)) {
      return refuse(Status.SESSION_EXPIRED, "unknown session");
    }
    long id = clientId != 0 ? clientId : nextId++;
    sessions.add(id);
    SessionTerms.Builder terms =
        SessionTerms.newBuilder()
            .setClientId(id)
            .setInlineMax(INLINE_MAX)
            .setReplication(REPLICATION)
            .setSuperuser(superuser)
            .addGroups("people")
            .setLeaseSoftLimitMs(LEASE_SOFT_LIMIT_MS)
            .setSessionTtlMs(SESSION_TTL_MS);
    if (slabs != null) {
      slabs.addTo(terms);
    }
    return Reply.newBuilder().setSession(terms).build();
  }

  private static Reply refuse(Status status, String message) {
    return Reply.newBuilder().setStatus(status).setMessage(message).build();
  }

  private Reply execute(long clientId, Request request) {
    return switch (request.getOperationCase()) {
      case CREATE -> create(clientId, request.getCreate().getPath());
      case APPEND -> append(clientId, request.getAppend().getPath());
      case GRANT_EXTENTS -> grant(request.getGrantExtents());
      case COMMIT_EXTENTS -> commit(clientId, request.getCommitExtents());
      case GET_EXTENTS -> extents(request.getGetExtents());
      case GET_FILE -> stat(request.getGetFile().getPath());
      case GET_CONTENT_SUMMARY -> sum(request.getGetContentSummary().getCursor());
      case TRUNCATE -> truncate(request.getTruncate());
      case GET_CLUSTER_MAP ->
          slabs == null
              ? refuse(Status.INVALID_ARGUMENT, "no such call")
              : Reply.newBuilder().setClusterMap(slabs.map()).build();
      case RENEW_LEASES -> renew(clientId, request.getRenewLeases());
      case REPORT_REPLICAS -> {
        slabs.report(request.getReportReplicas());
        yield Reply.newBuilder().setDone(true).build();
      }
      default -> Reply.newBuilder().setDone(true).build();
    };
  }

  private Reply renew(long clientId, RenewLeases request) {
    FakeFile file = byId.get(request.getFileId());
    if (file != null && file.writer != clientId) {
      return refuse(Status.LEASE_LOST, "another client writes the file");
    }
    List<Extent> live = slabs == null ? granted : slabs.live();
    return Reply.newBuilder().setGrants(Grants.newBuilder().addAllExtents(live)).build();
  }

  private Reply create(long clientId, String path) {
    FakeFile file = new FakeFile(nextId++);
    files.put(path, file);
    byId.put(file.id, file);
    return open(clientId, file);
  }

  private Reply append(long clientId, String path) {
    return open(clientId, files.get(path));
  }

  private Reply open(long clientId, FakeFile file) {
    file.writer = clientId;
    return Reply.newBuilder().setOpenedFile(file.opened()).build();
  }

  /** Grants extents of so many units from now on. */
  synchronized void grantInUnits(int units) {
    unitsPerExtent = units;
  }

  private Reply grant(GrantExtents request) {
    Grants.Builder grants = Grants.newBuilder();
    long left = request.getBytes();
    FakeFile file = byId.get(request.getFileId());
    file.granted -= request.getUnusedCount() + request.getLeftCount();
    if (file.granted >= GRANTS_MAX) {
      return refuse(Status.INVALID_ARGUMENT, file.granted + " extents are granted");
    }
    while (slabs != null && left > 0 && grants.getExtentsCount() < GRANT_EXTENTS_MAX) {
      Extent extent = slabs.grant(unitsPerExtent);
      if (extent == null) {
        return refuse(Status.UNAVAILABLE, "too few servers");
      }
      grants.addExtents(extent);
      left -= extent.getCapacity();
    }
    if (slabs != null) {
      slabs.giveUp(request);
      file.granted += grants.getExtentsCount();
    }
    while (slabs == null && left > 0) {
      if ((nextUnit + unitsPerExtent) * (long) Layout.UNIT_SIZE > arena.capacity()) {
        if (grants.getExtentsCount() > 0) {
          break;
        }
        return refuse(Status.NO_SPACE, "the pool is full");
      }
      int capacity = unitsPerExtent * Layout.UNIT_SIZE;
      Extent extent =
          Extent.newBuilder()
              .setSlab(OWN.getId())
              .setOffset(nextUnit * Layout.UNIT_SIZE)
              .setCapacity(capacity)
              .setGeneration(nextUnit)
              .build();
      grants.addExtents(extent);
      granted.add(extent);
      nextUnit += unitsPerExtent;
      left -= capacity;
    }
    return Reply.newBuilder().setGrants(grants).build();
  }

  private Reply commit(long clientId, CommitExtents commit) {
    FakeFile file = byId.get(commit.getFileId());
    if (file.writer != clientId) {
      return refuse(Status.LEASE_LOST, "another client writes the file");
    }
    if (commit.getAbandon()) {
      file.writer = 0;
      return Reply.newBuilder().setFile(file.info()).build();
    }
    for (Extent extent : commit.getExtentsList()) {
      if (slabs != null
          && slabs.isClosed(extent.getSlab())
          && !file.extents.containsValue(extent)) {
        return refuse(Status.STALE_VERSION, "slab " + extent.getSlab() + " was closed");
      }
    }
    if (commit.getExtentsCount() > COMMIT_EXTENTS_MAX) {
      return refuse(Status.INVALID_ARGUMENT, commit.getExtentsCount() + " extents at a time");
    }
    String fault = file.commit(commit);
    return fault != null
        ? refuse(Status.INVALID_ARGUMENT, fault)
        : Reply.newBuilder().setFile(file.info()).build();
  }

  private Reply extents(GetExtents request) {
    FakeFile file =
        request.getFileId() != 0 ? byId.get(request.getFileId()) : files.get(request.getPath());
    if (file == null) {
      return refuse(Status.NOT_FOUND, "no such file");
    }
    ExtentMap.Builder map = ExtentMap.newBuilder().setFile(file.info()).setInlineData(file.inline);
    file.extents.values().stream()
        .filter(extent -> extent.getFileOffset() + extent.getLength() > request.getOffset())
        .limit(request.getLimit())
        .forEach(map::addExtents);
    return Reply.newBuilder().setExtentMap(map).build();
  }

  private Reply stat(String path) {
    FakeFile file = files.get(path);
    return file == null
        ? refuse(Status.NOT_FOUND, "no such file")
        : Reply.newBuilder().setFile(file.info()).build();
  }

  /** A part of a binary tree that is three deep: a directory with two files of a byte. */
  private static Reply sum(ContentCursor cursor) {
    ContentSummaryPart.Builder part =
        ContentSummaryPart.newBuilder()
            .setLength(2)
            .setFileCount(2)
            .setDirectoryCount(1)
            .setSpaceConsumed(6);
    if (cursor.getVisitedCount() < 2) {
      for (String child : List.of("left", "right")) {
        part.addRemaining(cursor.toBuilder().addVisited(ByteString.copyFromUtf8(child)));
      }
    }
    return Reply.newBuilder().setContentSummary(part).build();
  }

  private Reply truncate(Truncate request) {
    FakeFile file = files.get(request.getPath());
    if (file.version != request.getExpectedVersion()) {
      return refuse(Status.STALE_VERSION, "it changed");
    }
    file.truncate(request);
    return Reply.newBuilder().setFile(file.info()).build();
  }
}
