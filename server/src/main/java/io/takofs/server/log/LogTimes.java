package io.takofs.server.log;

/**
 * The times of elections, nanoseconds.
 *
 * @param heartbeatNs between two heartbeats of a leader
 * @param electionMinNs a member misses its leader after this at the earliest
 * @param electionMaxNs and after this at the latest; each time is drawn between the two
 * @param retryNs between two attempts to bring a member in
 * @param leaseNs for which a leader may answer reads after a round of heartbeats; 0 for none
 */
public record LogTimes(
    long heartbeatNs, long electionMinNs, long electionMaxNs, long retryNs, long leaseNs) {

  /**
   * What a leader may count on of the time for which a member holds out: with it the clocks of the
   * two may differ by a twentieth each.
   */
  private static final double CERTAIN = 0.9;

  /**
   * For which a member lets no other leader in after it has noticed a heartbeat, by its own clock;
   * 0 when leases are not wanted.
   */
  long holdNs() {
    return leaseNs == 0 ? 0 : electionMinNs;
  }

  /**
   * For which a heartbeat counts, from before it was sent, by the leader's clock.
   *
   * @param heldNs for which the member that took it holds out
   */
  long leaseNs(long heldNs) {
    return Math.min(leaseNs, (long) (heldNs * CERTAIN));
  }
}
