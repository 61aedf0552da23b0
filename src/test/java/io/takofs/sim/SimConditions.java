package io.takofs.sim;

/**
 * Behaviour of the network. Times in virtual nanoseconds, chances between 0 and 1.
 *
 * @param latencyMinNs one way, at least
 * @param latencyMaxNs one way, at most, while nothing stalls
 * @param stallChance that an operation takes up to {@code stallMaxNs} longer
 * @param stallMaxNs longest stall
 * @param dropChance that the connection breaks while an operation is under way
 * @param lateRevokeChance that revoke cannot promise its end at once, as where peers share memory:
 *     what the peer is storing or posts may still land for a while, and never counts
 * @param windows whether there are memory windows
 */
public record SimConditions(
    long latencyMinNs,
    long latencyMaxNs,
    double stallChance,
    long stallMaxNs,
    double dropChance,
    double lateRevokeChance,
    boolean windows) {
  /** Nothing breaks; delays and placement still vary. */
  public static final SimConditions CALM = new SimConditions(500, 5_000, 0.01, 200_000, 0, 0, true);

  /** The same, with connections that break. */
  public SimConditions withDrops(double chance) {
    return new SimConditions(
        latencyMinNs, latencyMaxNs, stallChance, stallMaxNs, chance, lateRevokeChance, windows);
  }

  /** The same, with peers of which something may still land after they were revoked. */
  public SimConditions withLateRevokes(double chance) {
    return new SimConditions(
        latencyMinNs, latencyMaxNs, stallChance, stallMaxNs, dropChance, chance, windows);
  }
}
