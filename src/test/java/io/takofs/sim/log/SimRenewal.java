package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.server.log.GroupCatalog;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogReplica;
import io.takofs.server.member.CheckpointTakeover;
import io.takofs.server.member.MemberRenewal;
import io.takofs.server.member.MemberState;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.util.Set;

/** A damaged member, which begins anew by the real {@link MemberRenewal}. */
record SimRenewal(
    LogReplica replica,
    MemberState state,
    CheckpointTakeover takeover,
    LogReplica.Renewal format,
    LogReplica.Renewal use,
    Runnable whole)
    implements MemberRenewal.Renewed {
  private static final long PAUSE_NS = 50_000_000;

  /** Until a damaged member begins anew, from when it may. */
  private static final long BEGIN_MAX_NS = 30_000_000;

  /** The renewal of this process of a server. */
  MemberRenewal by(
      SimScheduler scheduler,
      SimProcess own,
      long incarnation,
      SimCatalogView view,
      Set<BrokenRule> broken) {
    return new MemberRenewal(
        this,
        broken.contains(BrokenRule.COUNTED_RENEWAL) ? countedNowhere(view) : view,
        view,
        view,
        incarnation,
        work -> scheduler.schedule(own, scheduler.delayNs(0, BEGIN_MAX_NS), work),
        PAUSE_NS);
  }

  /** The catalog, in which nobody is ever a member. */
  private static GroupCatalog countedNowhere(GroupCatalog view) {
    return new GroupCatalog() {
      @Override
      public GroupConfig read() {
        return new GroupConfig(view.read().epoch(), Set.of(), Set.of(), true);
      }

      @Override
      public void activate(long epoch) {
        view.activate(epoch);
      }
    };
  }

  @Override
  public TakoException damage() {
    return replica.damage();
  }

  @Override
  public void tell(TakoException damage) {}

  @Override
  public boolean isBusy() {
    return takeover.isBusy();
  }

  @Override
  public boolean renew(long epoch) throws TakoException {
    boolean done = state.beginAnew(epoch, format, use);
    if (done) {
      whole.run();
    }
    return done;
  }
}
