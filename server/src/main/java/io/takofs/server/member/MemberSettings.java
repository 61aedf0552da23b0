package io.takofs.server.member;

import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.server.log.LogTimes;

/**
 * The settings of a member of a group.
 *
 * @param times of heartbeats and elections
 * @param members that a group has where there are as many servers
 * @param replaceAfterNs after which another server takes the place of a silent member
 */
public record MemberSettings(LogTimes times, int members, long replaceAfterNs) {
  /** Heartbeats in the time after which a leader is missed at the earliest. */
  private static final int BEATS = 6;

  /** The settings that {@code config} has. */
  public static MemberSettings of(TakoConfig config) {
    long missedNs = config.get(ConfigKeys.ELECTION_TIMEOUT).toNanos();
    return new MemberSettings(
        new LogTimes(
            missedNs / BEATS,
            missedNs,
            2 * missedNs,
            missedNs / BEATS,
            config.get(ConfigKeys.READ_LEASE).toNanos()),
        config.get(ConfigKeys.GROUP_MEMBERS),
        config.get(ConfigKeys.REPLACE_AFTER).toNanos());
  }
}
