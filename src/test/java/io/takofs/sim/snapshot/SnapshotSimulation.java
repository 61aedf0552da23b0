package io.takofs.sim.snapshot;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.snapshot.SnapshotReader;
import io.takofs.server.snapshot.SnapshotSource;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import io.takofs.server.store.Store;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimConditions;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.SimTransport;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A member that changes and makes checkpoints, and one that takes them over again and again, while
 * processes die, connections break and messages are lost. Whenever the second one dies its zone is
 * looked at: it has no checkpoint, or one that the first one had.
 */
final class SnapshotSimulation {
  private static final int GROUP = 1;
  private static final int PAGES = 256;
  private static final int KEYS = 1800;
  private static final String ENDPOINT = "sim:source";
  private static final String TRANSPORT = "sim";
  private static final long CALL_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long TROUBLE_NS = TimeUnit.SECONDS.toNanos(8);
  private static final long HEAL_NS = TimeUnit.SECONDS.toNanos(60);

  private final long seed;
  private final boolean trusting;
  private final SimScheduler scheduler;
  private final Random random;
  private final SimNetwork network;
  private final SimProcess fate = new SimProcess("fate");
  private final MappedMemory sourceZone;
  private final MappedMemory targetZone;
  private final Map<Long, Map<Integer, byte[]>> checkpoints = new TreeMap<>();
  private final int entriesAtOnce;
  private boolean calm;

  // The source's process.
  private SimProcess source;
  private PagedStore store;
  private SnapshotSource answers;
  private final Map<Integer, byte[]> model = new TreeMap<>();
  private long index;
  private long incarnation;

  // The target's process.
  private SimProcess target;
  private SnapshotReader reader;
  private int finished;
  private int failed;
  private int givenUp;
  private int deaths;

  /**
   * @param trusting whether the target believes that the source holds what it reads
   */
  SnapshotSimulation(long seed, boolean trusting) throws TakoException {
    this.seed = seed;
    this.trusting = trusting;
    scheduler = new SimScheduler(seed);
    random = scheduler.random();
    network =
        new SimNetwork(
            scheduler, new SimConditions(500, 200_000, 0.02, 3_000_000, 0.02, 0.7, false));
    long bytes = (long) PAGES * Layout.PAGE_SIZE;
    sourceZone = MappedMemory.anonymous(bytes, true);
    targetZone = MappedMemory.anonymous(bytes + (long) Layout.PAGE_SIZE * random.nextInt(2), true);
    entriesAtOnce = 1 + random.nextInt(60);
  }

  /**
   * What came of a run.
   *
   * @param finished checkpoints that were taken over
   * @param failed attempts that ended otherwise
   * @param givenUp of them those in which the source needed the pages itself
   * @param deaths of the target
   */
  record Result(int finished, int failed, int givenUp, int deaths) {}

  /** Runs; fails with an AssertionError that names the seed. */
  Result run() {
    try {
      PagedStore.format(sourceZone);
      PagedStore.format(targetZone);
      checkpoints.put(0L, Map.of());
      startSource();
      startTarget();
      trouble();
      scheduler.pass(TROUBLE_NS);
      calm = true;
      network.setConditions(SimConditions.CALM);
      int before = finished;
      scheduler.await(HEAL_NS, () -> finished > before + 1);
      check(finished > before + 1, "no checkpoint is taken over though nothing is in the way");
      return new Result(finished, failed, givenUp, deaths);
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e, e);
    } finally {
      sourceZone.close();
      targetZone.close();
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  /** Something happens now and then, until all is calm. */
  private void trouble() {
    scheduler.schedule(
        fate,
        scheduler.delayNs(1_000_000, 2_000_000_000L),
        () -> {
          if (calm) {
            return;
          }
          switch (random.nextInt(5)) {
            case 0 -> {
              source.kill();
              again(this::startSource);
            }
            case 1, 2 -> {
              target.kill();
              deaths++;
              again(this::startTarget);
            }
            default -> network.breakOne();
          }
          trouble();
        });
  }

  private interface Start {
    void run() throws IOException;
  }

  private void again(Start start) {
    try {
      start.run();
    } catch (IOException e) {
      throw new AssertionError("a process does not start", e);
    }
  }

  // ---- the source -------------------------------------------------------------------------------

  private void startSource() throws IOException {
    SimProcess born = new SimProcess("source");
    source = born;
    store = PagedStore.open(sourceZone);
    index = store.checkpointIndex();
    model.clear();
    model.putAll(checkpoints.get(index));
    SimTransport transport = network.attach(born);
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue queue = transport.createCompletionQueue(256);
    MemoryRegion region =
        domain.register(sourceZone, 0, (int) sourceZone.length(), Access.REMOTE_READ);
    answers =
        new SnapshotSource(
            GROUP,
            ++incarnation,
            SimClock.wrong(scheduler, born),
            over -> over.equals(TRANSPORT) ? List.of(region) : List.of());
    answers.use(store);
    QueuePairConfig pairs = new QueuePairConfig(domain, queue, queue, 4, 0);
    transport.listen(ENDPOINT, new Admitting(pairs));
    work(born);
  }

  /** Whoever wants to read may. */
  private record Admitting(QueuePairConfig pairs) implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) {
      return new Accept(pairs, new byte[0]);
    }
  }

  private void work(SimProcess own) {
    scheduler.schedule(
        own,
        scheduler.delayNs(100_000, 4_000_000),
        () -> {
          again(() -> entries(calm ? 1 : entriesAtOnce));
          if (random.nextInt(4) == 0) {
            checkpoint();
          }
          answers.tick();
          work(own);
        });
  }

  private void entries(int count) throws TakoException {
    for (int i = 0; i < count; i++) {
      if (store.checkpointDue()) {
        checkpoint();
      }
      index++;
      int number = random.nextInt(KEYS);
      byte[] key = {(byte) (number >>> 8), (byte) number};
      if (random.nextInt(4) == 0) {
        store.shard(number % 3).remove(key);
        model.remove(number);
      } else if (store.hasRoom(1)) {
        byte[] value = new byte[random.nextInt(600)];
        random.nextBytes(value);
        store.shard(number % 3).put(key, value);
        model.put(number, value);
      }
    }
  }

  private void checkpoint() {
    store.checkpoint(index);
    checkpoints.put(index, new TreeMap<>(model));
  }

  private void checkIsCheckpoint(PagedStore taken) {
    Map<Integer, byte[]> expected = checkpoints.get(taken.checkpointIndex());
    check(expected != null, "a checkpoint that never was");
    int[] count = {0};
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      taken
          .shard(shard)
          .scan(
              new byte[0],
              (key, value) -> {
                int number = (key[0] & 0xff) << 8 | (key[1] & 0xff);
                check(Arrays.equals(value, expected.get(number)), "another value");
                count[0]++;
                return true;
              });
    }
    check(count[0] == expected.size(), "records are missing");
  }

  // ---- the target -------------------------------------------------------------------------------

  private void startTarget() throws IOException {
    SimProcess born = new SimProcess("target");
    target = born;
    reader = null;
    if (!SnapshotZone.isIncomplete(targetZone)) {
      checkIsCheckpoint(PagedStore.open(targetZone));
    }
    SimTransport transport = network.attach(born);
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue queue = transport.createCompletionQueue(256);
    MemoryRegion region = domain.register(targetZone, 0, (int) targetZone.length(), Access.LOCAL);
    QueuePairConfig pairs = new QueuePairConfig(domain, queue, queue, 4, 0);
    take(born, SimClock.wrong(scheduler, born), transport, pairs, region);
  }

  private void take(
      SimProcess own,
      SimClock clock,
      SimTransport transport,
      QueuePairConfig pairs,
      MemoryRegion region) {
    scheduler.schedule(
        own,
        scheduler.delayNs(100_000, 2_000_000),
        () -> {
          if (reader == null) {
            QueuePair pair = connect(transport, pairs);
            if (pair != null) {
              OpenSnapshot wanted =
                  OpenSnapshot.newBuilder()
                      .setGroup(GROUP)
                      .setServer(2)
                      .setTransport(TRANSPORT)
                      .build();
              reader =
                  new SnapshotReader(
                      wanted,
                      (request, answer) -> call(own, request, answer),
                      pair,
                      targetZone,
                      List.of(region),
                      clock);
            }
          } else {
            pairs.sendQueue().poll(reader::onCompletion, 64);
            reader.tick();
            if (reader.isListed()) {
              reader.begin(); // no store is open here
            }
            end();
          }
          take(own, clock, transport, pairs, region);
        });
  }

  private static QueuePair connect(SimTransport transport, QueuePairConfig pairs) {
    try {
      return transport.connect(ENDPOINT, pairs, new byte[0], CALL_NS);
    } catch (IOException e) {
      return null; // it is not there at the moment
    }
  }

  /** An attempt may have ended: then the zone is looked at, and another one begins. */
  private void end() {
    if (reader.isRead()) {
      try {
        checkIsCheckpoint(reader.finish());
        checkIsCheckpoint(PagedStore.open(targetZone));
      } catch (TakoException e) {
        throw new AssertionError("what was read is not whole", e);
      }
      finished++;
      reader = null;
    } else if (reader.failure() != null) {
      failed++;
      givenUp += reader.failure().getMessage().contains("gave its checkpoint up") ? 1 : 0;
      reader.close();
      reader = null;
    }
  }

  /** A call may be lost, or done without an answer. */
  private void call(SimProcess own, Request request, Consumer<Reply> answer) {
    SimProcess called = source;
    boolean[] answered = new boolean[1];
    if (calm || random.nextInt(20) > 0) {
      scheduler.schedule(
          called,
          network.latencyNs(own, called),
          () -> {
            Reply reply = trusted(request, answers.handle(request));
            if (calm || random.nextInt(20) > 0) {
              scheduler.schedule(
                  own, network.latencyNs(called, own), () -> once(answered, answer, reply));
            }
          });
    }
    Reply lost = Reply.newBuilder().setStatus(Status.UNAVAILABLE).setMessage("lost").build();
    scheduler.schedule(own, CALL_NS, () -> once(answered, answer, lost));
  }

  private static void once(boolean[] answered, Consumer<Reply> answer, Reply reply) {
    if (!answered[0]) {
      answered[0] = true;
      answer.accept(reply);
    }
  }

  private Reply trusted(Request request, Reply reply) {
    if (!trusting || !request.hasRenewSnapshot()) {
      return reply;
    }
    Reply.Builder held = reply.toBuilder();
    held.getSnapshotStateBuilder().setHeld(true);
    return held.build();
  }
}
