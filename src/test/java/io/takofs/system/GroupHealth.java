package io.takofs.system;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.Status;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What the leader of the namespace says of the servers that keep it. */
final class GroupHealth {
  private static final long MOVE_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private GroupHealth() {}

  /**
   * Waits until {@code members} servers keep the namespace, each reached and with all entries that
   * the leader had when this was called, so that any of them may fail.
   */
  static void awaitMembers(TakoClient client, int members, Duration limit) throws Exception {
    long begin = System.nanoTime();
    long[] wanted = {-1}; // index of the last entry at first
    ClusterHealth.await(
        client,
        "all of " + members + " members have the log",
        limit,
        status -> {
          long beganMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
          if (!isFresh(status, beganMs)) {
            return false;
          }
          wanted[0] = wanted[0] < 0 ? status.getGroup().getLastIndex() : wanted[0];
          return have(status.getGroup(), members, wanted[0]);
        });
  }

  /** The numbers of the members, and of those that learn. */
  static List<Integer> members(ClusterStatus status) {
    return status.getGroup().getMembersList().stream().map(MemberStatus::getServer).toList();
  }

  /** Has server {@code id} lead; asks again, since another one may be elected meanwhile. */
  static void awaitLead(TakoClient client, int id, Duration limit) throws Exception {
    Poll.until(
        id + " leads",
        limit,
        MOVE_PAUSE_NS,
        () -> {
          if (client.administration().clusterStatus().getLeader() == id) {
            return true;
          }
          try {
            client.administration().moveLeader(id);
          } catch (TakoException e) {
            if (e.status() != Status.BUSY) {
              throw e;
            }
          }
          return false;
        });
  }

  /** Waits until another server than {@code id} leads. */
  static void awaitLeadOfAnother(TakoClient client, int id, Duration limit) throws Exception {
    Poll.until(
        "another server than " + id + " leads",
        limit,
        MOVE_PAUSE_NS,
        () -> !Set.of(0, id).contains(client.administration().clusterStatus().getLeader()));
  }

  /** Whether the leader has said this since: another server only passes it on. */
  private static boolean isFresh(ClusterStatus status, long beganMs) {
    return status.getGroup().getLeader() == status.getLeader()
        && status.getLeaderAgeMs() < Math.max(1, beganMs);
  }

  private static boolean have(GroupStatus group, int members, long index) {
    List<MemberStatus> all = group.getMembersList();
    return group.getActive()
        && all.size() == members
        && all.stream()
            .allMatch(
                member ->
                    member.getReached()
                        && !member.getLearner()
                        && member.getWrittenIndex() >= index);
  }
}
