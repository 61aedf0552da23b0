package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.log.Log;
import io.takofs.server.log.SegmentedLog;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.member.GroupMember;
import io.takofs.server.member.MemberSettings;
import io.takofs.server.peer.DataServers;
import io.takofs.server.pool.Pool;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import io.takofs.server.store.Store;
import java.util.concurrent.ExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's part in the group that has the namespace: a server alone has a log that nobody else
 * reaches; in a cluster each has one that the group's leader may write to, be it a member yet or
 * not.
 *
 * <p>Thread rule: one thread.
 */
final class MemberPlace implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberPlace.class);

  private static final int LOG_ID = 1;

  /** Attempts to connect to other members at a time. */
  private static final int CONNECTING_MAX = 8;

  private final TakoConfig config;
  private final Pool pool;
  private final ClusterPlace place;
  private final ExecutorService connecting =
      DaemonThreads.create("tako-member-connect", CONNECTING_MAX, Integer.MAX_VALUE);
  private final FormerPeers formerPeers;
  private GroupMember member; // null alone
  private Log log;
  private GroupStorage storage; // with which this server starts; null for none

  MemberPlace(TakoConfig config, Pool pool, ClusterPlace place, FormerPeers formerPeers) {
    this.config = config;
    this.pool = pool;
    this.place = place;
    this.formerPeers = formerPeers;
  }

  /**
   * Opens the store and the log. A member whose page zone is incomplete or damaged has no state,
   * and takes one over when it runs; it votes, because its log is whole. One whose log is damaged,
   * and that the others can do without, has neither, and begins anew when it runs.
   *
   * @throws TakoException CORRUPT when there is nobody to go on without this one; UNAVAILABLE when
   *     it cannot be told who may still write to it; INVALID_ARGUMENT when the pool belongs to
   *     something else
   */
  void open() throws TakoException {
    boolean incomplete = SnapshotZone.isIncomplete(pool.pages());
    if (incomplete && place.isAlone()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the pool in %s was about to take over the namespace from another server of its cluster, and has none: name the servers of the cluster in %s, or remove the pool's directory and start the server once with `tako server --format`"
              .formatted(config.get(ConfigKeys.POOL_PATH), ConfigKeys.CLUSTER_SERVERS.name()));
    }
    if (incomplete) {
      LOG.info("the takeover of a checkpoint did not end; this server has no state until one does");
    }
    PagedStore store = incomplete ? null : store();
    TakoException damage = null;
    long checkpointIndex = store == null ? 0 : store.checkpointIndex();
    place.setMetadataPages(pageCount(store, incomplete));
    LogIdentity identity = new LogIdentity(LOG_ID, Math.toIntExact(pool.epoch()));
    if (place.isAlone()) {
      LogZone zone = LogZone.of(pool.log(), 0, pool.log().length());
      log = SegmentedLog.open(zone, identity, checkpointIndex);
    } else {
      formerPeers.look(); // before the first look at what they may have written
      try {
        member = member(identity, store, null);
      } catch (TakoException e) {
        damage = survivable(e);
        member = member(identity, store, damage);
      }
      log = member.log();
    }
    place.checkPool(log.lastIndex() > 0 || checkpointIndex > 0 || store == null || damage != null);
    place.setDamage(damage == null ? "" : damage.getMessage());
    storage = store == null || damage != null ? null : storage(store);
  }

  /** The state here; null when it is damaged, and another member has one. */
  private PagedStore store() throws TakoException {
    try {
      return PagedStore.open(pool.pages());
    } catch (TakoException e) {
      if (e.status() != Status.CORRUPT || !place.hasOtherMembers()) {
        throw e;
      }
      LOG.error(
          "{}: this member takes the state of the namespace over from another one; until then it"
              + " votes and does not lead",
          damage(e).getMessage());
      return null;
    }
  }

  private GroupMember member(LogIdentity identity, PagedStore store, TakoException damage)
      throws TakoException {
    return new GroupMember(
        MemberSettings.of(config),
        place.cluster(),
        place.knownLeader(),
        pool.log(),
        pool.pages(),
        identity,
        store == null ? 0 : store.checkpointIndex(),
        store != null && damage == null,
        () -> !formerPeers.areThere(),
        damage);
  }

  private int pageCount(PagedStore store, boolean incomplete) {
    if (store != null) {
      return store.pageCount();
    }
    return incomplete
        ? SnapshotZone.incompletePageCount(pool.pages())
        : Math.toIntExact(pool.pages().length() / Layout.PAGE_SIZE); // that of a new state
  }

  /**
   * The damage with which this server may start: what a majority of others keep without it.
   *
   * @throws TakoException {@code failure}, when that is no such damage
   */
  private TakoException survivable(TakoException failure) throws TakoException {
    if (failure.status() != Status.CORRUPT || !place.othersKeepTheNamespace()) {
      throw failure;
    }
    return damage(failure);
  }

  /** The message of {@code failure} without what is to be done where there are no others. */
  private static TakoException damage(TakoException failure) {
    String what = failure.getMessage();
    int advice = what.indexOf("; ");
    return new TakoException(
        Status.CORRUPT, "CORRUPT: " + (advice < 0 ? what : what.substring(0, advice)), failure);
  }

  private GroupStorage storage(PagedStore store) {
    return new GroupStorage(store, log, pool.epoch(), this::reopen);
  }

  /** The state is taken back to the last checkpoint. */
  private Store reopen() throws TakoException {
    PagedStore again = PagedStore.open(pool.pages());
    member.log().rewind(again.checkpointIndex());
    return again;
  }

  /** Has {@code server} lead the group when it may; before any transport is added. */
  void join(DataServer server, GroupLookups lookups, DataServers servers) throws TakoException {
    Leader leader = member == null ? new OnlyMember(place.cluster(), pool.epoch()) : member;
    if (member != null) {
      server.keepLog(member);
    }
    server.join(storage, leader, lookups, servers);
  }

  /** Takes part, over {@code transports}; what it returns ends that. */
  AutoCloseable start(DataServer server, ServerTransports transports) {
    if (member == null) {
      return () -> {};
    }
    member.start(
        place.memberCalls(),
        transports.selector(config.get(ConfigKeys.TRANSPORT)),
        connecting,
        place.mapChanges(),
        new GroupMember.Owner() {
          @Override
          public void poll() {
            server.poll();
          }

          @Override
          public void wantTick() {
            server.wantTick();
          }

          @Override
          public void giveUpState() {
            server.giveUpState();
          }

          @Override
          public void takeState(PagedStore store) {
            place.setMetadataPages(store.pageCount());
            server.takeState(storage(store));
          }

          @Override
          public void damaged(String what) {
            place.setDamage(what);
          }
        });
    return member;
  }

  @Override
  public void close() {
    connecting.shutdownNow();
    if (log != null) {
      log.close();
    }
  }
}
