package io.takofs.server.catalog.raft;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.CatalogValues;
import io.takofs.proto.DescribePeer;
import io.takofs.proto.FoundCatalog;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.proto.PeerDescription;
import io.takofs.proto.ReadCatalog;
import io.takofs.proto.Status;
import io.takofs.server.catalog.CatalogCommand;
import io.takofs.server.catalog.CatalogCommand.Kind;
import io.takofs.server.catalog.CatalogState;
import io.takofs.server.catalog.CommandStore;
import io.takofs.server.catalog.PeerStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The catalog in some of the servers, as its leader answers. It asks one peer after the other until
 * it finds the leader. What is certain to have had no effect is tried again; a change whose outcome
 * is unknown is not.
 *
 * <p>Thread rule: any thread that may wait; calls end after {@link #LIMIT_NS}, and a little.
 */
public final class RatisConfigStore extends CommandStore {
  /** Longer than two elections take: votes may be split in the first. */
  static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(20);

  /** One attempt; longer than a leader elsewhere waits for a majority. */
  private static final long ATTEMPT_NS = TimeUnit.SECONDS.toNanos(6);

  /** One attempt of a caller that is about to end. */
  private static final long LAST_NS = TimeUnit.SECONDS.toNanos(1);

  private static final long DESCRIBE_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final CatalogCommand EXPIRE = CatalogCommand.of(Kind.EXPIRE, "", ABSENT);

  private static final PeerCall READ =
      PeerCall.newBuilder().setRead(ReadCatalog.getDefaultInstance()).build();

  private final List<String> peers;
  private final PeerConnections connections;
  private final Clock clock;
  private volatile String leader = "";
  private volatile boolean closed;

  /**
   * @param peers the addresses of the servers that have the catalog
   * @param connections which stay their owner's
   */
  public RatisConfigStore(List<String> peers, PeerConnections connections, Clock clock) {
    this.peers = List.copyOf(peers);
    this.connections = connections;
    this.clock = clock;
  }

  /**
   * Asks for a change of nothing but leases that have ended: for some time a leader answers
   * questions also when it has lost the majority.
   */
  @Override
  public boolean answersWithin(Duration limit) {
    try {
      ask(call(EXPIRE), limit.toNanos());
      return true;
    } catch (TakoException e) {
      return e.status() != Status.UNAVAILABLE;
    }
  }

  @Override
  public Value get(String key) throws TakoException {
    return values().getOrDefault(key, Value.NONE);
  }

  @Override
  public Map<String, Value> values() throws TakoException {
    byte[] state = read().getState().toByteArray();
    try {
      return CatalogState.decode(state).values();
    } catch (IOException e) {
      throw new TakoException(
          Status.CORRUPT, "the catalog's values cannot be read: " + e.getMessage(), e);
    }
  }

  /** The values at the leader; none whose lease has ended. */
  private CatalogValues read() throws TakoException {
    CatalogValues values = ask(READ).getValues();
    while (values.getExpired()) {
      change(EXPIRE); // a lease ends by a change
      values = ask(READ).getValues();
    }
    return values;
  }

  @Override
  public boolean restore(CatalogState copy) throws TakoException {
    PeerCall found = PeerCall.newBuilder().setFound(FoundCatalog.getDefaultInstance()).build();
    if (peers().stream()
        .allMatch(
            peer -> peer.role() == PeerStatus.Role.NEW || peer.role() == PeerStatus.Role.SILENT)) {
      connections.ask(peers.get(0), found, ATTEMPT_NS);
    }
    return change(CatalogCommand.restore(copy)) != LOST;
  }

  @Override
  public long currentTimeMillis() throws TakoException {
    return ask(READ).getValues().getTimeMs();
  }

  @Override
  protected long change(CatalogCommand command) throws TakoException {
    return ask(call(command)).getVersion();
  }

  private static PeerCall call(CatalogCommand command) {
    return PeerCall.newBuilder().setChange(CatalogEntries.change(command)).build();
  }

  // ---- finding the leader -----------------------------------------------------------------------

  private PeerAnswer ask(PeerCall call) throws TakoException {
    return ask(call, LIMIT_NS);
  }

  private PeerAnswer ask(PeerCall call, long limitNs) throws TakoException {
    long attemptNs = Math.min(ATTEMPT_NS, limitNs);
    long deadline = clock.nanoTime() + limitNs;
    TakoException problem = null;
    while (true) {
      List<String> order = order();
      boolean refused = false; // this side's secret, by a peer of this round
      boolean known = false; // that secret, to a peer elsewhere
      for (int i = 0; i < order.size(); i++) {
        String peer = order.get(i);
        try {
          PeerAnswer answer = connections.ask(peer, call, closed ? LAST_NS : attemptNs);
          known |= !connections.isLocal(peer);
          if (!answer.hasNotLeader()) {
            leader = peer;
            return answer;
          }
          String other = answer.getNotLeader().getLeader();
          String why = answer.getNotLeader().getWhy();
          if (!why.isEmpty()) {
            problem = worse(problem, new TakoException(Status.UNAVAILABLE, why));
          }
          leader = other;
          if (!other.isEmpty() && order.indexOf(other) < i) {
            break; // it was asked before it led, or did not answer
          }
        } catch (PeerConnection.NotSentException e) {
          refused |= e.status() == Status.PERMISSION_DENIED;
          problem = worse(problem, e);
        } catch (TakoException e) {
          if (!call.hasRead()) {
            throw unavailable(e);
          }
          known = true;
          problem = worse(problem, e);
        }
      }
      // No leader answers whom every peer refuses that can be reached, however long it asks.
      if ((refused && !known) || closed || clock.nanoTime() - deadline >= 0) {
        throw unavailable(problem);
      }
      clock.pause(this, PAUSE_NS, () -> closed);
    }
  }

  /** The peers, the leader first if it is known. */
  private List<String> order() {
    List<String> order = new ArrayList<>(peers);
    String first = leader;
    if (!first.isEmpty()) {
      order.remove(first);
      order.add(0, first);
    }
    return order;
  }

  /** The failure that a person has to mend, before a peer that may only be down; else the last. */
  private static TakoException worse(TakoException former, TakoException next) {
    return former != null && weight(former) > weight(next) ? former : next;
  }

  /** The larger, the surer it is that waiting does not help. */
  private static int weight(TakoException problem) {
    if (problem.status() == Status.PERMISSION_DENIED) {
      return 2; // a wrong secret
    }
    return problem instanceof PeerConnection.NotSentException e && e.isOfUnknownHost() ? 1 : 0;
  }

  private TakoException unavailable(TakoException why) {
    if (why != null && why.status() == Status.PERMISSION_DENIED) {
      return why;
    }
    return new TakoException(
        Status.UNAVAILABLE,
        "the catalog (%s) does not answer: %s"
            .formatted(description(), why == null ? "its peers know no leader" : why.getMessage()),
        why);
  }

  // ---- for people -------------------------------------------------------------------------------

  @Override
  public List<PeerStatus> peers() {
    List<PeerStatus> all = new ArrayList<>();
    for (String address : peers) {
      all.add(status(address));
    }
    return all;
  }

  private PeerStatus status(String address) {
    PeerCall call = PeerCall.newBuilder().setDescribe(DescribePeer.getDefaultInstance()).build();
    try {
      PeerDescription peer = connections.ask(address, call, DESCRIBE_NS).getDescription();
      PeerStatus.Role role =
          peer.getLeader()
              ? PeerStatus.Role.LEADER
              : peer.getVotes() ? PeerStatus.Role.FOLLOWER : PeerStatus.Role.NEW;
      return new PeerStatus(address, peer.getId(), role);
    } catch (TakoException e) {
      return new PeerStatus(address, "", PeerStatus.Role.SILENT);
    }
  }

  @Override
  public String description() {
    return "on " + String.join(",", peers);
  }

  /** Ends calls that look for the leader. */
  @Override
  public void close() {
    closed = true;
  }
}
