package io.takofs.server.loggroup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.Caller;
import io.takofs.proto.Status;
import io.takofs.server.groups.GroupMapping;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The users that call, with their groups and whether they are superusers. A session may live for
 * months, so its groups are not those of its begin for ever: when {@link GroupMapping} does not
 * know them any more they are looked up again. Meanwhile, and for {@link #STALE_MAX_NS} at most,
 * the last ones hold, so that a slow lookup delays nobody.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class Callers {
  /** Interval at which the groups of a calling session are compared with the known ones, ms. */
  public static final long CHECK_MS = 1000;

  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(CHECK_MS);

  /** Time for which groups hold that cannot be looked up again; known groups are kept as long. */
  static final long STALE_MAX_NS = TimeUnit.MINUTES.toNanos(5);

  /**
   * Bytes that the names of a user's groups take at most: they stand in each log entry and in the
   * reply that opens a session.
   */
  static final int GROUPS_BYTES_MAX = 32 << 10;

  private final ServerSettings settings;
  private final GroupMapping groups;
  private final Set<String> stale = new LinkedHashSet<>();

  public Callers(ServerSettings settings, GroupMapping groups) {
    this.settings = settings;
    this.groups = groups;
  }

  /**
   * The user with the groups known now.
   *
   * @throws TakoException UNAVAILABLE when they are not known, INVALID_ARGUMENT when they are too
   *     many
   */
  public Caller of(String user) throws TakoException {
    List<String> known = groups.known(user);
    if (known == null) {
      throw unknown(user);
    }
    return caller(user, known);
  }

  /**
   * The user of the session {@code client}.
   *
   * @param nowNs by the server's clock
   * @throws TakoException UNAVAILABLE when the groups have been stale for too long,
   *     INVALID_ARGUMENT when they are too many
   */
  public Caller of(ClientState client, long nowNs) throws TakoException {
    if (nowNs - client.groupsKnownNs < CHECK_NS) {
      return client.caller;
    }
    String user = client.caller.getUser();
    List<String> known = groups.known(user);
    if (known == null) {
      if (nowNs - client.groupsAskedNs
          >= CHECK_NS) { // a lookup that fails is not made for each call
        client.groupsAskedNs = nowNs;
        stale.add(user);
      }
      if (nowNs - client.groupsKnownNs > STALE_MAX_NS) {
        throw unknown(user);
      }
    } else {
      client.caller = caller(user, known); // first: a refusal must not count as an answer
      client.groupsKnownNs = nowNs;
    }
    return client.caller;
  }

  /** Users who called since the last time and whose groups must be looked up again. */
  public List<String> takeStale() {
    if (stale.isEmpty()) {
      return List.of();
    }
    List<String> taken = new ArrayList<>(stale);
    stale.clear();
    return taken;
  }

  /** Leaving some out would change what the user may do, so that too many are refused. */
  private Caller caller(String user, List<String> known) throws TakoException {
    long bytes = known.stream().mapToLong(name -> name.getBytes(UTF_8).length).sum();
    if (bytes > GROUPS_BYTES_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "user %s is in %d groups, whose names take %d bytes; %d is the most: list those that matter in %s"
              .formatted(user, known.size(), bytes, GROUPS_BYTES_MAX, ConfigKeys.GROUPS.name()));
    }
    boolean superuser =
        !settings.permissionsEnabled()
            || user.equals(settings.user())
            || known.contains(settings.supergroup());
    return Caller.newBuilder().setUser(user).addAllGroups(known).setSuperuser(superuser).build();
  }

  private static TakoException unknown(String user) {
    return new TakoException(
        Status.UNAVAILABLE,
        "the groups of "
            + user
            + " are not known at the moment; try again, and see the server's log");
  }
}
