package io.takofs.system;

import java.io.IOException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the time goes between the death of a leader and the next one's first answers, ms each:
 * until the leader is missed, until another is elected, until that one has the state and serves,
 * and until clients have reached it. Read from the logs of the servers that live.
 */
record FailoverPhases(long detectionMs, long electionMs, long replayMs, long reconnectionMs) {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss,SSS");

  private static final int TIME_LENGTH = 23;

  /**
   * Of one death.
   *
   * @param diedMs when, by the clock of this machine
   * @param answeredMs when the last client had an answer again
   */
  static FailoverPhases of(List<ServerProcess> living, long diedMs, long answeredMs)
      throws IOException {
    List<String> lines = new ArrayList<>();
    for (ServerProcess server : living) {
      server.log().lines().filter(line -> timeMs(line) >= diedMs).forEach(lines::add);
    }
    long missedMs = first(lines, "(?:is missed as the leader|stands for election)", answeredMs);
    long electedMs = first(lines, "this server leads the group", answeredMs);
    long servedMs = first(lines, "this server leads the namespace", answeredMs);
    return new FailoverPhases(
        missedMs - diedMs, electedMs - missedMs, servedMs - electedMs, answeredMs - servedMs);
  }

  private static long first(List<String> lines, String words, long otherwiseMs) {
    return lines.stream()
        .filter(line -> line.matches(".*" + words + ".*"))
        .mapToLong(FailoverPhases::timeMs)
        .min()
        .orElse(otherwiseMs);
  }

  /** The time at the beginning of a line; 0 without one. */
  private static long timeMs(String line) {
    if (!line.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d,\\d{3} .*")) {
      return 0;
    }
    return LocalDateTime.parse(line.substring(0, TIME_LENGTH), TIME)
        .atZone(ZoneId.systemDefault())
        .toInstant()
        .toEpochMilli();
  }
}
