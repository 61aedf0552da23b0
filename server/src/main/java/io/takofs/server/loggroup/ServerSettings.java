package io.takofs.server.loggroup;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.pool.PoolSizes;
import io.takofs.server.slabs.RepairSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration values that the server's core uses.
 *
 * @param user who runs the server: the superuser
 * @param supergroup members of it are superusers too
 * @param permissionsEnabled whether anybody else is not
 * @param blockSize block size of files whose creator names none, bytes
 * @param blockSizeMin smallest block size that a creator may name, bytes
 * @param replicationMax copies of file data that are kept at most
 * @param replicationMin servers that must lend space for file data at least, unless a file asks for
 *     fewer copies
 * @param checkpointBytes bytes of log between two checkpoints
 * @param sessionTtl life of a session without a connection
 * @param leaseSoftLimit silence after which others may take a file over
 * @param leaseHardLimit silence after which the server closes the files
 * @param quarantine rest of freed extents
 * @param repair of lost copies
 */
public record ServerSettings(
    String user,
    String supergroup,
    boolean permissionsEnabled,
    long blockSize,
    long blockSizeMin,
    int replicationMax,
    int replicationMin,
    long checkpointBytes,
    Duration sessionTtl,
    Duration leaseSoftLimit,
    Duration leaseHardLimit,
    Duration quarantine,
    RepairSettings repair) {

  /** A smaller pool of a cluster has no log that is large enough for a replicated namespace. */
  private static final long MEMBER_POOL_MIN = 192L << 20;

  /** The settings of {@code config} for a server run by {@code user}. */
  public static ServerSettings of(TakoConfig config, String user) {
    boolean alone = config.get(ConfigKeys.CLUSTER_SERVERS).isEmpty();
    return new ServerSettings(
        user,
        config.get(ConfigKeys.SUPERGROUP),
        config.get(ConfigKeys.PERMISSIONS_ENABLED),
        config.get(ConfigKeys.BLOCK_SIZE),
        config.get(ConfigKeys.BLOCK_SIZE_MIN),
        alone ? 1 : config.get(ConfigKeys.REPLICATION_MAX),
        alone ? 1 : config.get(ConfigKeys.REPLICATION_MIN),
        config.get(ConfigKeys.CHECKPOINT_SIZE),
        config.get(ConfigKeys.SESSION_TTL),
        config.get(ConfigKeys.LEASE_SOFT_LIMIT),
        config.get(ConfigKeys.LEASE_HARD_LIMIT),
        config.get(ConfigKeys.QUARANTINE),
        RepairSettings.of(config));
  }

  /**
   * Checks that as many copies as must be written are also kept.
   *
   * @throws TakoException INVALID_ARGUMENT
   */
  public static void checkCopies(TakoConfig config) throws TakoException {
    int least = config.get(ConfigKeys.REPLICATION_MIN);
    int most = config.get(ConfigKeys.REPLICATION_MAX);
    if (least > most) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s is %d, but no more than %s = %d copies are kept: lower the one or raise the other"
              .formatted(
                  ConfigKeys.REPLICATION_MIN.name(),
                  least,
                  ConfigKeys.REPLICATION_MAX.name(),
                  most));
    }
  }

  /**
   * Checks what depends on settings that may be others when the log is replayed, so that no entry
   * may depend on it.
   *
   * @throws TakoException INVALID_ARGUMENT
   */
  public void check(Request asked) throws TakoException {
    long wanted = asked.getCreate().getBlockSize();
    if (wanted > 0 && wanted < blockSizeMin) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "block size %d of %s is smaller than %d, the smallest that this server takes; ask for a larger one, or lower %s"
              .formatted(
                  wanted,
                  asked.getCreate().getPath(),
                  blockSizeMin,
                  ConfigKeys.BLOCK_SIZE_MIN.name()));
    }
  }

  /** The limits with which a new group is formatted. */
  public Limits limits() {
    Limits defaults = Limits.defaults(user);
    return new Limits(user, supergroup, blockSize, defaults.inlineMax(), replicationMax);
  }

  /** Zones of a pool as {@code config} wants them. */
  public static PoolSizes poolSizes(TakoConfig config) throws TakoException {
    long total = config.get(ConfigKeys.POOL_SIZE);
    boolean member = !config.get(ConfigKeys.CLUSTER_SERVERS).isEmpty() && total >= MEMBER_POOL_MIN;
    return PoolSizes.divide(
        total,
        config.get(ConfigKeys.PAGES_SIZE),
        config.get(ConfigKeys.LOG_SIZE),
        member ? GroupConfig.SEGMENTS_MIN : PoolSizes.SEGMENTS_MIN);
  }

  /** Groups as {@code user=group,group;user=group} lists them. */
  public static Map<String, List<String>> groups(String text) throws TakoException {
    Map<String, List<String>> groups = new HashMap<>();
    for (String user : text.split(";", -1)) {
      if (user.isBlank()) {
        continue;
      }
      int equals = user.indexOf('=');
      if (equals <= 0) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            ConfigKeys.GROUPS.name()
                + " has '"
                + user
                + "'; allowed is "
                + ConfigKeys.GROUPS.allowed());
      }
      List<String> names = new ArrayList<>();
      for (String name : user.substring(equals + 1).split(",", -1)) {
        if (!name.isBlank()) {
          names.add(name.strip());
        }
      }
      groups.put(user.substring(0, equals).strip(), List.copyOf(names));
    }
    return groups;
  }
}
