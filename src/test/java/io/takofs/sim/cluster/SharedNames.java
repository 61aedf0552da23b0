package io.takofs.sim.cluster;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** Names that several users try to create: each is created once, and only its creator is told. */
final class SharedNames {
  private static final int NAMES = 12;
  private final Map<String, Integer> attempts = new HashMap<>();
  private final Map<String, Integer> creations = new HashMap<>();

  /** Tries to create one of the names. */
  void compete(TakoClient client, Random random) throws TakoException {
    String path = "/shared/" + random.nextInt(NAMES);
    attempts.merge(path, 1, Integer::sum);
    try {
      client.create(path, CreateOptions.DEFAULT).close();
    } catch (TakoException e) {
      if (e.status() != Status.ALREADY_EXISTS) {
        throw e;
      }
      check(attempts.get(path) > 1, path + " exists, but nobody else tried to create it");
      return;
    }
    check(creations.merge(path, 1, Integer::sum) == 1, path + " was created twice");
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
