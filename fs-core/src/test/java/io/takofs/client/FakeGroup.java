package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Connector;
import io.takofs.client.internal.session.ServerConnection;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The members of a group, of which one leads at a time: all of them have the state of one {@link
 * FakeServer}, and each the data of a {@link FakeDataServer}.
 *
 * <p>Thread rule: any thread.
 */
final class FakeGroup implements Connector {
  /** The behaviour of a member that is asked. */
  enum Condition {
    RUNNING,
    DOWN,
    /** It takes connections, and answers nothing. */
    FROZEN
  }

  /** A call that came to a member. */
  record Sent(Request.OperationCase operation, long sequence, String server) {}

  private final Clock clock;
  private final FakeServer state;
  private final FakeSlabs slabs;
  private final Map<Integer, FakeDataServer> members = new HashMap<>();
  private final List<Integer> ids = new ArrayList<>();
  private final Map<Integer, Condition> conditions = new HashMap<>();
  private final Map<Integer, Integer> believed = new HashMap<>(); // who leads, by member
  private final Set<Request.OperationCase> slow = new HashSet<>();
  private final List<Sent> sent = new ArrayList<>();
  private int refusals; // of connections
  private List<String> configured;
  private String current;
  private int leader;
  private int successor; // leads after the next change was executed; 0 for none
  private boolean forgetful;
  private int mapEpoch = 2;
  private List<Integer> shown; // as members in the map

  /**
   * Its first member leads.
   *
   * @param clock of its clients, which their deadlines are of
   */
  FakeGroup(FakeServer state, FakeSlabs slabs, List<FakeDataServer> members, Clock clock) {
    this.clock = clock;
    this.state = state;
    this.slabs = slabs;
    for (FakeDataServer member : members) {
      this.members.put(member.id, member);
      ids.add(member.id);
    }
    configured = members.stream().map(FakeDataServer::name).toList();
    current = configured.get(0);
    shown = ids;
    lead(ids.get(0));
  }

  /** This member leads, and all know it. */
  synchronized void lead(int id) {
    leader = id;
    ids.forEach(each -> believed.put(each, id));
  }

  /** {@code id} takes {@code other} for the leader; 0 when it knows none. */
  synchronized void believe(int id, int other) {
    believed.put(id, other);
  }

  /** No member leads, whatever they believe. */
  synchronized void loseLeader() {
    leader = 0;
  }

  synchronized void become(int id, Condition condition) {
    conditions.put(id, condition);
    notifyAll();
  }

  /** The leader executes the next change and then answers that it does not lead. */
  synchronized void deposeAfterNext(int next) {
    successor = next;
  }

  /** A leader that is deposed takes all sessions along. */
  synchronized void beForgetful() {
    forgetful = true;
  }

  /** The cluster has another map, with these members. */
  synchronized void show(Integer... members) {
    shown = List.of(members);
    mapEpoch++;
  }

  /** Answers these only once this is called for others, or for none. */
  synchronized void hold(Request.OperationCase... operations) {
    slow.clear();
    slow.addAll(List.of(operations));
    notifyAll();
  }

  /** Clients know these addresses of members only. */
  synchronized void configure(List<String> servers) {
    configured = servers;
    current = servers.get(0);
  }

  /** All calls with this operation, as often as they came. */
  synchronized List<Sent> sent(Request.OperationCase operation) {
    return sent.stream().filter(call -> call.operation == operation).toList();
  }

  /** Connections that were refused so far. */
  synchronized int refusals() {
    return refusals;
  }

  // ---- Connector

  @Override
  public synchronized ServerConnection connect(long clientId, long deadlineNs)
      throws TakoException {
    return connect(current, clientId, deadlineNs);
  }

  private synchronized ServerConnection connect(String name, long clientId, long deadlineNs)
      throws TakoException {
    for (FakeDataServer member : members.values()) {
      if (member.name().equals(name) && condition(member.id) != Condition.DOWN) {
        return new Connection(member, state.connect(clientId, deadlineNs));
      }
    }
    refusals++;
    throw new TakoException(Status.UNAVAILABLE, "connection refused by " + name);
  }

  @Override
  public ServerConnection connectData(String server, long clientId, long deadlineNs)
      throws IOException {
    return state.connectData(server, clientId, deadlineNs);
  }

  @Override
  public ServerConnection connectToAsk(String server, long deadlineNs) throws TakoException {
    return connect(server, 0, deadlineNs);
  }

  @Override
  public synchronized String server() {
    return current;
  }

  @Override
  public synchronized List<String> servers() {
    return configured;
  }

  @Override
  public synchronized void redirect(String server) {
    current = server;
  }

  @Override
  public Map<String, TransportCounters> counters() {
    return Map.of();
  }

  @Override
  public MemoryBudget budget() {
    return state.budget();
  }

  @Override
  public void rest() {}

  @Override
  public void close() {}

  // ---- the members

  private Condition condition(int id) {
    return conditions.getOrDefault(id, Condition.RUNNING);
  }

  private synchronized ClusterMap map() {
    synchronized (state) {
      return slabs.map().toBuilder()
          .setEpoch(mapEpoch)
          .clearGroups()
          .addGroups(GroupEntry.newBuilder().setId(1).addAllMembers(shown))
          .build();
    }
  }

  private Reply notLeader(int id, boolean executed) {
    return Reply.newBuilder()
        .setStatus(Status.NOT_LEADER)
        .setNotExecuted(!executed)
        .setLeader(believed.get(id))
        .setMessage("server " + id + " takes server " + believed.get(id) + " for the leader")
        .build();
  }

  private final class Connection implements ServerConnection {
    private final FakeDataServer member;
    private final ServerConnection session;
    private ServerConnection data;
    private volatile boolean open = true;

    Connection(FakeDataServer member, ServerConnection session) {
      this.member = member;
      this.session = session;
    }

    @Override
    public Reply call(long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException {
      synchronized (FakeGroup.this) {
        sent.add(new Sent(request.getOperationCase(), sequence, member.name()));
        await(request, deadlineNs);
        if (request.hasGetClusterMap()) {
          return Reply.newBuilder().setClusterMap(map()).build();
        }
        if (request.hasGetClusterStatus()) {
          return Reply.newBuilder()
              .setClusterStatus(ClusterStatus.newBuilder().setLeader(believed.get(member.id)))
              .build();
        }
        if (member.id != leader) {
          return notLeader(member.id, false);
        }
        Reply reply = session.call(clientId, sequence, request, deadlineNs);
        if (successor != 0 && !request.hasOpenSession()) {
          lead(successor);
          successor = 0;
          if (forgetful) {
            state.expireSessions();
          }
          return notLeader(member.id, true);
        }
        Reply.Builder shown = reply.toBuilder().setMapEpoch(mapEpoch);
        if (reply.hasSession()) {
          shown.getSessionBuilder().setServer(member.id);
        }
        return shown.build();
      }
    }

    private void await(Request request, long deadlineNs) throws TakoException {
      while (open
          && (condition(member.id) == Condition.FROZEN
              || slow.contains(request.getOperationCase()))) {
        if (clock.nanoTime() - deadlineNs >= 0) {
          throw new TakoException(Status.DEADLINE_EXCEEDED, member.name() + " did not answer");
        }
        try {
          FakeGroup.this.wait(1);
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      if (!open || condition(member.id) == Condition.DOWN) {
        open = false;
        throw new TakoException(Status.DISCONNECTED, member.name() + " is gone");
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public String transportVerdict() {
      return "fake";
    }

    @Override
    public DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException {
      synchronized (FakeGroup.this) {
        if (member.id != leader) {
          throw new TakoException(Status.NOT_LEADER, notLeader(member.id, false).getMessage());
        }
      }
      ServerConnection made = member.connect(terms.getClientId());
      OpenDataSession hello =
          OpenDataSession.newBuilder()
              .setClientId(terms.getClientId())
              .setTicket(terms.getTicket())
              .build();
      made.call(
          terms.getClientId(),
          1,
          Request.newBuilder().setOpenDataSession(hello).build(),
          deadlineNs);
      data = made;
      return made.openZone(terms, deadlineNs);
    }

    @Override
    public void leave() {
      open = false;
      data = null;
    }

    @Override
    public void close() {
      open = false;
      if (data != null) {
        data.close();
      }
    }
  }
}
