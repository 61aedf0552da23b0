package io.takofs.server.groups;

import io.takofs.base.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups as the operating system knows them ({@code id -Gn}), kept for five minutes; users that the
 * configuration lists have the groups listed there.
 */
public final class SystemGroups implements GroupMapping {
  private static final Logger LOG = LoggerFactory.getLogger(SystemGroups.class);
  private static final long KEEP_NS = TimeUnit.MINUTES.toNanos(5);
  private static final long TIMEOUT_S = 5;
  private static final int CACHE_MAX = 10_000;

  /** Names that {@code id} cannot take for an option or a number. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,254}\\$?");

  private final StaticGroups configured;
  private final Clock clock;
  private final Map<String, Entry> cache = new ConcurrentHashMap<>();

  private record Entry(List<String> groups, long timeNs) {}

  public SystemGroups(StaticGroups configured, Clock clock) {
    this.configured = configured;
    this.clock = clock;
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
    if (cache.size() >= CACHE_MAX) {
      cache.clear();
    }
    cache.put(user, new Entry(groups, clock.nanoTime()));
    return groups;
  }

  private static List<String> ask(String user) {
    try {
      Process process =
          new ProcessBuilder("id", "-Gn", "--", user)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
          LOG.warn("id -Gn {} took more than {} s; the user has no groups", user, TIMEOUT_S);
          return List.of();
        }
        String names =
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return names.isEmpty() ? List.of() : List.of(names.split(" +"));
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      LOG.warn("cannot ask for the groups of {}; the user has none", user, e);
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }
}
