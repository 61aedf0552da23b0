package io.takofs.sim.cluster;

import io.takofs.base.TakoException;
import io.takofs.client.Quotas;
import io.takofs.client.TakoClient;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.proto.QuotaStatus;
import io.takofs.sim.SimScheduler;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A user's work with ACLs, extended attributes, replication and the quota of its directory: one
 * call shows what the one before has set, and in the end the quota has counted what is there.
 */
final class SimAttributes {
  private static final int VALUE_MAX = 8000;
  private static final long PLENTY = 1L << 40;
  private static final int COPIES_MAX = 3;
  private static final int LOOKS_MAX = 1000;
  private static final long LOOK_PAUSE_NS = 20_000_000;

  private final SimScheduler scheduler;
  private final String home;

  SimAttributes(SimScheduler scheduler, String home) {
    this.scheduler = scheduler;
    this.home = home;
  }

  /** Sets something of the user's own {@code path} and looks at it. */
  void change(TakoClient client, String path, Random random) throws TakoException {
    if (random.nextBoolean()) {
      String name = "user." + random.nextInt(3);
      byte[] value = new byte[random.nextInt(VALUE_MAX)];
      random.nextBytes(value);
      client.xattrs().set(path, name, value, true, true);
      if (!Arrays.equals(client.xattrs().getAll(path).get(name), value)) {
        throw new AssertionError(path + " has another " + name + " than was set");
      }
    } else {
      AclEntry entry =
          AclEntry.newBuilder()
              .setScope(AclScope.ACCESS)
              .setType(AclType.USER)
              .setName("user" + random.nextInt(3))
              .setPermission(random.nextInt(8))
              .build();
      client.acls().modify(path, List.of(entry));
      if (!client.acls().get(path).getEntriesList().contains(entry)) {
        throw new AssertionError(path + " lacks " + entry);
      }
    }
  }

  /** Gives a file of the user's another number of copies, for which its data moves soon. */
  void replicate(TakoClient client, String path, Random random) throws TakoException {
    int copies = 1 + random.nextInt(COPIES_MAX);
    client.setReplication(path, copies);
    if (client.getStatus(path).replication() != copies) {
      throw new AssertionError(path + " is not to have " + copies + " copies");
    }
  }

  /** Sets a quota that is never reached, or ends it. */
  void limit(TakoClient client, Random random) throws TakoException {
    boolean none = random.nextInt(3) == 0;
    client.quotas().set(home, none ? Quotas.NONE : PLENTY, none ? Quotas.NONE : PLENTY);
  }

  /**
   * Checks that the quota, if there is one, comes to count so many names: deleted ones go later.
   */
  void checkCount(TakoClient client, int names) throws TakoException {
    QuotaStatus quota = client.quotas().get(home);
    for (int looks = 0;
        quota.hasNamesUsed() && quota.getNamesUsed() != names && looks < LOOKS_MAX;
        looks++) {
      scheduler.pass(LOOK_PAUSE_NS);
      quota = client.quotas().get(home);
    }
    if (quota.hasNamesUsed() && quota.getNamesUsed() != names) {
      throw new AssertionError(
          "%s has %d names, but its quota counts %d".formatted(home, names, quota.getNamesUsed()));
    }
  }
}
