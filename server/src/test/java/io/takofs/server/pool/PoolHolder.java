package io.takofs.server.pool;

import java.nio.file.Path;

/** A process that opens a pool and keeps it until it is killed. */
final class PoolHolder {
  static final String READY = "ready";

  private PoolHolder() {}

  public static void main(String[] args) throws Exception {
    try (Pool pool = Pool.open(Path.of(args[0]))) {
      System.out.println(pool.epoch() == 1 ? READY : "epoch " + pool.epoch());
      System.in.read();
    }
  }
}
