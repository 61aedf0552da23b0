package io.takofs.server.member;

import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.ServerEntry;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.log.GroupCatalog;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.peer.ClusterTopology;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a member back whose log or state is damaged. What it has promised may be lost with it, so
 * it comes back as a server that never was a member: it says in the cluster's map that it is
 * damaged, which keeps it out of every later configuration; waits until a configuration without it
 * is active; begins anew with an empty log and an empty state; and says that it is whole. Then it
 * is a server like any other, and may become a member by learning the log.
 *
 * <p>Once in a process: the map that shows the mark must be one of this process and of this damage,
 * since an older map does not tell who counts this server now.
 *
 * <p>Thread rule: {@link #tick} on one thread; the renewal has another, which may wait.
 */
public final class MemberRenewal {
  private static final Logger LOG = LoggerFactory.getLogger(MemberRenewal.class);

  /** The pause between two tries. */
  static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Renewed renewed;
  private final GroupCatalog catalog;
  private final MapChanges changes;
  private final ClusterTopology cluster;
  private final long incarnation;
  private final Executor threads;
  private final long pauseNs;
  private TakoException told;
  private boolean hopeless; // as was said
  private volatile boolean once; // it was renewed
  private long triedNs;
  private volatile boolean busy;

  /** What begins anew. */
  public interface Renewed {
    /** Why it must; null when all is whole. */
    TakoException damage();

    /** Says to others and to people what is damaged; again when that is something else. */
    void tell(TakoException damage);

    /** Whether something may still write to the state. */
    boolean isBusy();

    /**
     * Begins anew; callers with an earlier configuration than {@code epoch} are refused from then
     * on. It may wait.
     *
     * @return false when a former leader may still write to the log: to be asked again
     * @throws TakoException when that failed; it is damaged still
     */
    boolean renew(long epoch) throws TakoException;
  }

  /**
   * @param catalog of the group, as {@code cluster} has it
   * @param incarnation of this process, as it registers it
   * @param threads that may wait
   * @param pauseNs between two tries
   */
  public MemberRenewal(
      Renewed renewed,
      GroupCatalog catalog,
      MapChanges changes,
      ClusterTopology cluster,
      long incarnation,
      Executor threads,
      long pauseNs) {
    this.renewed = renewed;
    this.catalog = catalog;
    this.changes = changes;
    this.cluster = cluster;
    this.incarnation = incarnation;
    this.threads = threads;
    this.pauseNs = pauseNs;
  }

  /** Whether the state is being made anew: nobody else may write to it. */
  public boolean isBusy() {
    return busy;
  }

  /** Does what is due; when this server has a number. */
  public void tick(long nowNs) {
    TakoException damage = renewed.damage();
    ServerEntry self = cluster.server(cluster.serverId()).orElse(null);
    if (damage != null && damage != told) {
      told = damage;
      renewed.tell(damage);
    }
    if (self == null || self.getEpoch() != incarnation || busy) {
      return;
    }
    if (damage == null) {
      if (!self.getDamage().isEmpty()) {
        mark(self.getId(), "");
      }
    } else if (self.getDamage().isEmpty()) {
      mark(self.getId(), damage.getMessage());
    } else if (nowNs - triedNs >= pauseNs || triedNs == 0) {
      triedNs = nowNs;
      renewIfNobodyCounts(self.getId());
    }
  }

  private void mark(int self, String damage) {
    changes.request(
        "damage",
        map ->
            ClusterMaps.server(map, self).getEpoch() == incarnation
                ? ClusterMaps.damaged(map, self, damage)
                : map); // another process knows better
  }

  private void renewIfNobodyCounts(int self) {
    GroupConfig config = catalog.read();
    boolean counts = config.members().contains(self) || !config.active();
    if (counts && !hopeless && !ClusterMaps.goesOnWithout(cluster.map(), self)) {
      hopeless = true;
      LOG.error(
          "the members of the namespace that are whole are no majority ({}): none can lead until"
              + " more of them are back",
          config.members());
    }
    if (counts || once || renewed.isBusy()) {
      return;
    }
    busy = true;
    try {
      threads.execute(() -> renew(config.epoch()));
    } catch (RejectedExecutionException e) {
      busy = false; // this server stops
    }
  }

  private void renew(long epoch) {
    try {
      if (renewed.renew(epoch)) {
        once = true;
        Facts.of("epoch", epoch)
            .info(LOG, "the damaged member has begun anew, with an empty log and an empty state");
      }
    } catch (TakoException | RuntimeException | Error e) {
      LOG.error("a damaged member could not begin anew; it is tried again", e);
    } finally {
      busy = false;
    }
  }
}
