package io.takofs.server.groups;

import io.takofs.base.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups as the operating system knows them ({@code id -Gnz}), kept for five minutes; users that
 * the configuration lists have the groups listed there. When the system cannot be asked, nothing is
 * kept.
 */
public final class SystemGroups implements GroupMapping {
  private static final Logger LOG = LoggerFactory.getLogger(SystemGroups.class);
  private static final long KEEP_NS = TimeUnit.MINUTES.toNanos(5);
  private static final int TIMEOUT_S = 5;

  /** Exit code of {@code id} for an unknown user, or for a group without a name. */
  private static final int NO_SUCH_USER = 1;

  private static final int CACHE_MAX = 10_000;

  /** Names that {@code id} cannot take for an option or a number. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,254}\\$?");

  private final StaticGroups configured;
  private final Clock clock;
  private final String tool;
  private final int timeoutS;
  private final Map<String, Entry> cache = new ConcurrentHashMap<>();

  private record Entry(List<String> groups, long timeNs) {}

  public SystemGroups(StaticGroups configured, Clock clock) {
    this(configured, clock, "id", TIMEOUT_S);
  }

  /**
   * @param tool used like {@code id}
   * @param timeoutS how long it may take
   */
  SystemGroups(StaticGroups configured, Clock clock, String tool, int timeoutS) {
    this.configured = configured;
    this.clock = clock;
    this.tool = tool;
    this.timeoutS = timeoutS;
  }

  @Override
  public List<String> known(String user) {
    if (configured.lists(user)) {
      return configured.known(user);
    }
    Entry entry = cache.get(user);
    return entry != null && clock.nanoTime() - entry.timeNs < KEEP_NS ? entry.groups : null;
  }

  @Override
  public List<String> resolve(String user) {
    List<String> known = known(user);
    if (known != null) {
      return known;
    }
    List<String> groups = PLAIN_NAME.matcher(user).matches() ? ask(user) : List.of();
    if (groups == null) {
      return null; // Kept, it would deny the user for minutes what the next answer allows.
    }
    if (cache.size() >= CACHE_MAX) {
      cache.clear();
    }
    cache.put(user, new Entry(groups, clock.nanoTime()));
    return groups;
  }

  /** The tool's output, empty for a user who does not exist; null when the tool failed. */
  private List<String> ask(String user) {
    try {
      Process process =
          new ProcessBuilder(tool, "-Gnz", "--", user)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        if (!process.waitFor(timeoutS, TimeUnit.SECONDS)) {
          LOG.warn(
              "{} -Gnz {} took more than {} s; asking again when needed", tool, user, timeoutS);
          return null;
        }
        if (process.exitValue() > NO_SUCH_USER) {
          LOG.warn("{} -Gnz {} ended with {}; asking again", tool, user, process.exitValue());
          return null;
        }
        return names(process.getInputStream().readAllBytes());
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      LOG.warn("cannot ask for the groups of {}; asking again when needed", user, e);
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Each name ends with a zero byte, because a name may have blanks ("domain users"). */
  private static List<String> names(byte[] output) {
    String text = new String(output, StandardCharsets.UTF_8);
    return Stream.of(text.split("\0")).map(String::strip).filter(n -> !n.isEmpty()).toList();
  }
}
