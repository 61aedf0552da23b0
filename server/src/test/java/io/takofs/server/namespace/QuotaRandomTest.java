package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.proto.CountQuotas;
import io.takofs.proto.Create;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.store.HeapStore;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random operations below narrow quotas, and while much that was deleted is still there: what
 * counts is what all records add up to, and no limit is passed.
 */
class QuotaRandomTest {
  private static final String[] NAMES = {"a", "b", "c"};
  private static final int STEPS = 1500;

  private final Harness server = new Harness();
  private final List<OpenedFile> opened = new ArrayList<>();
  private final Map<Status, Integer> statuses = new EnumMap<>(Status.class);
  private Harness.Client client = server.superuser();
  private int namesMax = 20; // of a quota
  private Random random;

  private String path() {
    StringBuilder path = new StringBuilder();
    for (int depth = 1 + random.nextInt(4); depth > 0; depth--) {
      path.append('/').append(NAMES[random.nextInt(NAMES.length)]);
    }
    return path.toString();
  }

  private Reply step() {
    return switch (random.nextInt(16)) {
      case 0, 1, 2 -> client.mkdirs(path());
      case 3, 4, 5 -> create();
      case 6, 7 -> client.rename(path(), path(), random.nextBoolean());
      case 8 -> client.delete(path(), random.nextBoolean());
      case 9 -> opened(client.append(path()));
      case 10, 11 -> write();
      case 12, 13 -> quota();
      case 14 ->
          client.set(
              SetAttributes.newBuilder().setPath(path()).setReplication(1 + random.nextInt(4)));
      default -> rare();
    };
  }

  private Reply create() {
    return opened(
        client.create(
            Create.newBuilder()
                .setPath(path())
                .setReplication(1 + random.nextInt(3))
                .setOverwrite(random.nextBoolean())
                .setCreateParents(random.nextBoolean())
                .setGrantBytes(random.nextBoolean() ? 0 : random.nextInt(200_000))));
  }

  private Reply opened(Reply reply) {
    if (reply.getStatus() == Status.OK) {
      opened.add(reply.getOpenedFile());
    }
    return reply;
  }

  private Reply write() {
    if (opened.isEmpty()) {
      return client.recoverLease(path());
    }
    OpenedFile file = opened.get(random.nextInt(opened.size()));
    if (random.nextBoolean()) {
      return client.grant(file, 1 + random.nextInt(300_000));
    }
    opened.remove(file);
    ByteString data = ByteString.copyFrom(new byte[random.nextInt(1000)]);
    return client.commit(
        Harness.commit(file)
            .setInlineData(data)
            .setLength(data.size())
            .setClose(true)
            .setAbandon(random.nextBoolean())
            .setAllWritesCompleted(random.nextBoolean()));
  }

  private Reply quota() {
    return setQuota(path());
  }

  private Reply setQuota(String path) {
    return client.call(
        Request.newBuilder()
            .setSetQuota(
                SetQuota.newBuilder()
                    .setPath(path)
                    .setNames(random.nextInt(3) == 0 ? Quota.NONE : 1 + random.nextInt(namesMax))
                    .setSpace(random.nextInt(2) == 0 ? Quota.NONE : random.nextInt(1_000_000))));
  }

  private Reply rare() {
    if (random.nextInt(4) > 0) {
      return server.reclaim(1 + random.nextInt(3));
    }
    if (random.nextBoolean()) {
      return server.expireLeases(client.id);
    }
    Reply ended = server.expireSession(client.id);
    client = server.superuser();
    return ended;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void shouldCountWhatThereIs(long seed) {
    random = new Random(seed);
    for (int i = 0; i < STEPS; i++) {
      Reply reply = step();
      statuses.merge(reply.getStatus(), 1, Integer::sum);
      while (server.machine.countPending()) {
        server.apply(LogEntry.newBuilder().setCountQuotas(CountQuotas.getDefaultInstance()));
      }
      Consistency.check(server);
      if (i % 100 == 0) {
        server.restart();
        server.freeAll();
      }
    }
    assertThat(statuses)
        .containsKeys(Status.OK, Status.QUOTA_EXCEEDED)
        .doesNotContainKey(Status.INTERNAL);
    replay();
  }

  /**
   * Makes a deep directory, that is counted in several steps, without a quota if possible, and has
   * it counted.
   */
  private Reply deep() {
    String top = "/" + NAMES[random.nextInt(NAMES.length)];
    client.delete(top, true);
    for (int part = 0; part < 2; part++) {
      Reply made = client.mkdirs(top + "/" + part + "/x".repeat(50));
      if (made.getStatus() != Status.OK) {
        return made;
      }
    }
    return random.nextBoolean() ? client.rename(top, path(), false) : setQuota(top);
  }

  /** Directories so deep that they are counted in several steps, with changes between those. */
  @ParameterizedTest
  @ValueSource(longs = {7, 8, 9, 10})
  void shouldCountWhatThereIsWhileItIsChanged(long seed) {
    random = new Random(seed);
    namesMax = 2000;
    int waited = 0;
    int between = 0;
    for (int i = 0; i < STEPS / 4; i++) {
      boolean counting = server.machine.countPending();
      Reply reply = random.nextInt(8) == 0 ? deep() : step();
      statuses.merge(reply.getStatus(), 1, Integer::sum);
      if (counting && reply.getStatus() == Status.UNAVAILABLE) {
        waited++;
      } else if (counting && reply.getStatus() == Status.OK) {
        between++;
      }
      if (random.nextInt(4) == 0 && server.machine.countPending()) {
        server.apply(LogEntry.newBuilder().setCountQuotas(CountQuotas.getDefaultInstance()));
      }
      Consistency.check(server);
      if (i % 10 == 0) {
        server.reclaim(2000); // or checks become slow
      }
      if (i % 100 == 0) {
        server.restart();
        server.freeAll();
      }
    }
    assertThat(waited).as("%s", statuses).isPositive();
    assertThat(between).isPositive();
    assertThat(statuses).doesNotContainKey(Status.INTERNAL);
    replay();
  }

  /** The same log makes the same state. */
  private void replay() {
    HeapStore store = new HeapStore(Long.MAX_VALUE);
    StateMachine second = new StateMachine(store);
    for (int i = 0; i < server.log.size(); i++) {
      Reply reply = second.apply(i + 1, server.log.get(i));
      assertThat(reply).isEqualTo(server.replies.get(i));
    }
    assertThat(RandomWorkloadTest.dump(store)).isEqualTo(RandomWorkloadTest.dump(server.store));
  }
}
