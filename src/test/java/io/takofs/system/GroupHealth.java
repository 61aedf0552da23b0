package io.takofs.system;

import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import java.time.Duration;
import java.util.List;

/** What the leader of the namespace says of the servers that keep it. */
final class GroupHealth {
  private GroupHealth() {}

  /**
   * Waits until {@code members} servers keep the namespace, each reached and with all entries that
   * the leader had when this was called, so that any of them may fail.
   */
  static void awaitMembers(TakoClient client, int members, Duration limit) throws Exception {
    long[] wanted = {-1}; // index of the last entry at first
    ClusterHealth.await(
        client,
        "all of " + members + " members have the log",
        limit,
        status -> {
          if (wanted[0] < 0 && leads(status)) {
            wanted[0] = status.getGroup().getLastIndex();
          }
          return wanted[0] >= 0 && leads(status) && have(status.getGroup(), members, wanted[0]);
        });
  }

  /** Whether the server that answers leads, and so knows the others. */
  private static boolean leads(ClusterStatus status) {
    return status.getServer() == status.getLeader()
        && status.getGroup().getLeader() == status.getServer();
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
