package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.server.namespace.operation.ConcatOperation;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.OrderedMap;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConcatTest {
  private static final int UNIT = 65536;

  private Harness server = new Harness();
  private Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private OpenedFile append(String path) {
    Reply reply = client.append(path);
    assertOk(reply);
    return reply.getOpenedFile();
  }

  private static CommitExtents.Builder closing(OpenedFile target) {
    return commit(target).setClose(true).setAllWritesCompleted(true);
  }

  private Reply concat(
      Harness.Client by, String target, CommitExtents.Builder commit, String... names) {
    Concat.Builder concat = Concat.newBuilder().setTarget(target).setCommit(commit);
    String directory = target.substring(0, target.lastIndexOf('/') + 1);
    for (String name : names) {
      FileInfo seen = client.stat(directory + name).getFile();
      concat.addSources(
          ConcatSource.newBuilder()
              .setName(name)
              .setFileId(seen.getId())
              .setVersion(seen.getVersion()));
    }
    return by.call(Request.newBuilder().setConcat(concat));
  }

  private Reply concat(String target, String... names) {
    return concat(client, target, closing(append(target)), names);
  }

  private void assertRefused(Status status, String target, String... names) {
    OpenedFile opened = append(target);
    long length = client.info(target).getLength();
    assertStatus(concat(client, target, closing(opened), names), status);
    client.committed(closing(opened).setAbandon(true));
    assertThat(client.info(target).getLength()).isEqualTo(length);
  }

  @Test
  void shouldMoveExtentsOfAnyLength() {
    client.file("/t", UNIT + 5);
    client.file("/a", 3);
    client.file("/b", 2 * UNIT + 1);
    List<Extent> target = client.extents("/t");
    List<Extent> first = client.extents("/a");
    List<Extent> second = client.extents("/b");
    long version = client.info("/t").getVersion();
    assertThat(concat("/t", "a", "b").getConcatenated()).isEqualTo(2);
    FileInfo joined = client.info("/t");
    assertThat(joined.getLength()).isEqualTo(3 * UNIT + 9);
    assertThat(joined.getUnderConstruction()).isFalse();
    assertThat(joined.getVersion()).isGreaterThan(version);
    assertThat(joined.getModificationTimeMs()).isEqualTo(server.timeMs);
    assertThat(client.names("/")).containsExactly("t");
    List<Extent> extents = client.extents("/t");
    assertThat(extents).startsWith(target.toArray(new Extent[0]));
    assertThat(extents.subList(target.size(), extents.size()))
        .extracting(Extent::getSlab, Extent::getOffset, Extent::getLength)
        .containsExactlyElementsOf(
            Stream.concat(first.stream(), second.stream())
                .map(e -> tuple(e.getSlab(), e.getOffset(), e.getLength()))
                .toList());
  }

  @Test
  void shouldRefuseASourceOfTooManyExtentsForOneEntry() throws TakoException {
    client.file("/t", 10);
    long id = client.file("/a", UNIT).getId();
    // Records alone: nobody looks at what they say before there are too many.
    OrderedMap records = server.store.shard(Ids.birthShard(id));
    byte[] record = records.get(Keys.of(Keys.EXTENT, id, 0));
    for (long i = 1; i <= ConcatOperation.SOURCE_EXTENTS_MAX; i++) {
      records.put(Keys.of(Keys.EXTENT, id, i * UNIT), record);
    }
    assertRefused(Status.INVALID_ARGUMENT, "/t", "a");
    for (long i = 1; i <= ConcatOperation.SOURCE_EXTENTS_MAX; i++) {
      records.remove(Keys.of(Keys.EXTENT, id, i * UNIT));
    }
    concat("/t", "a");
  }

  @Test
  void shouldGoOnBehindTheLastSource() {
    client.file("/t", 10);
    OpenedFile source = client.opened("/a");
    Extent extent = written(client.granted(source, 1), 0, 20);
    client.committed(closing(source).addExtents(extent).setLength(20));
    concat("/t", "a");
    OpenedFile opened = append("/t");
    assertThat(opened.getLastExtent().getFileOffset()).isEqualTo(10);
    Extent more = written(opened.getLastExtent(), 10, 100);
    assertThat(client.committed(closing(opened).addExtents(more).setLength(110)).getLength())
        .isEqualTo(110);
    assertOk(client.delete("/t", false));
    server.reclaimAll();
    assertThat(server.free()).isEqualTo(server.machine.usage().getCapacity());
  }

  @Test
  void shouldJoinWhatIsSmallInTheMetadata() {
    client.closeInline(client.opened("/t"), "one ");
    client.closeInline(client.opened("/a"), "two ");
    client.closeInline(client.opened("/b"), "three");
    assertOk(concat("/t", "b", "a"));
    assertThat(
            client
                .extents(GetExtents.newBuilder().setPath("/t"))
                .getExtentMap()
                .getInlineData()
                .toStringUtf8())
        .isEqualTo("one threetwo ");
  }

  @Test
  void shouldTakeWhatTheCallerWroteForWhatIsSmall() {
    client.closeInline(client.opened("/t"), "four");
    client.file("/a", UNIT);
    client.closeInline(client.opened("/b"), "seven..");
    OpenedFile opened = append("/t");
    Extent one = written(client.granted(opened, 1), 0, 4);
    Extent two = written(client.granted(opened, 1), 4 + UNIT, 7);
    assertOk(concat(client, "/t", closing(opened).addExtents(one).addExtents(two), "a", "b"));
    assertThat(client.extents("/t"))
        .extracting(Extent::getFileOffset, Extent::getLength)
        .containsExactly(tuple(0L, 4), tuple(4L, UNIT), tuple(4L + UNIT, 7));
  }

  @Test
  void shouldTakeWhatTheCallerWroteForInlineBytesAfterExtents() {
    fileWithTail("/t", "four");
    fileWithTail("/a", "seven..");
    OpenedFile opened = append("/t");
    long end = UNIT;
    Extent one = written(client.granted(opened, 1), end, 4);
    Extent two = written(client.granted(opened, 1), end + 4 + UNIT, 7);
    assertStatus(
        concat(client, "/t", closing(opened).addExtents(one), "a"), Status.INVALID_ARGUMENT);
    assertOk(concat(client, "/t", closing(opened).addExtents(one).addExtents(two), "a"));
    assertThat(client.extents("/t"))
        .extracting(Extent::getFileOffset, Extent::getLength)
        .containsExactly(
            tuple(0L, UNIT), tuple(end, 4), tuple(end + 4, UNIT), tuple(end + 4 + UNIT, 7));
    assertThat(client.info("/t").getLength()).isEqualTo(2L * UNIT + 11);
    Consistency.check(server);
  }

  private void fileWithTail(String path, String tail) {
    OpenedFile opened = client.opened(path);
    Extent grant = client.granted(opened, UNIT + 1);
    client.committed(
        closing(opened)
            .addExtents(written(grant, 0, UNIT))
            .setInlineData(ByteString.copyFromUtf8(tail))
            .setLength(UNIT + tail.length()));
  }

  @Test
  void shouldRefuseSmallContentThatWasNotWritten() {
    client.file("/t", UNIT);
    client.closeInline(client.opened("/a"), "small");
    assertRefused(Status.INVALID_ARGUMENT, "/t", "a");
    OpenedFile opened = append("/t");
    Extent tooShort = written(client.granted(opened, 1), UNIT, 4);
    assertStatus(
        concat(client, "/t", closing(opened).addExtents(tooShort), "a"), Status.INVALID_ARGUMENT);
    Extent notGranted = tooShort.toBuilder().setGeneration(1).setLength(5).build();
    assertStatus(
        concat(client, "/t", closing(opened).addExtents(notGranted), "a"), Status.INVALID_ARGUMENT);
    client.committed(closing(opened).setAbandon(true));
    assertThat(client.info("/a").getLength()).isEqualTo(5);
  }

  @Test
  void shouldRefuseWhatDoesNotFit() {
    client.file("/t", 1);
    client.file("/a", 1);
    client.mkdirs("/d");
    client.committed(closing(client.opened("/empty")));
    OpenedFile large =
        client.create(Create.newBuilder().setPath("/large").setBlockSize(1L << 30)).getOpenedFile();
    client.closeInline(large, "x");
    assertRefused(Status.INVALID_ARGUMENT, "/t");
    assertRefused(Status.INVALID_ARGUMENT, "/t", "t");
    assertRefused(Status.INVALID_ARGUMENT, "/t", "a", "a");
    assertRefused(Status.INVALID_ARGUMENT, "/t", "a", "empty");
    assertRefused(Status.INVALID_ARGUMENT, "/t", "a", "large");
    assertRefused(Status.NOT_FOUND, "/t", "a", "missing");
    assertRefused(Status.IS_A_DIRECTORY, "/t", "a", "d");
    client.opened("/open");
    assertRefused(Status.LEASE_HELD, "/t", "open");
    assertThat(client.names("/")).contains("a", "empty", "large");
  }

  @Test
  void shouldNotTakeASourceThatChangedOrATargetThatWasLost() {
    client.file("/t", 1);
    client.file("/a", 1);
    FileInfo seen = client.info("/a");
    OpenedFile opened = append("/t");
    Concat.Builder concat =
        Concat.newBuilder()
            .setTarget("/t")
            .setCommit(closing(opened))
            .addSources(
                ConcatSource.newBuilder()
                    .setName("a")
                    .setFileId(seen.getId())
                    .setVersion(seen.getVersion() + 1));
    assertStatus(client.call(Request.newBuilder().setConcat(concat)), Status.STALE_VERSION);
    server.superuser().recoverLease("/t");
    assertStatus(concat(client, "/t", closing(opened), "a"), Status.LEASE_LOST);
    assertThat(client.info("/a").getLength()).isEqualTo(1);
  }

  @Test
  void shouldAskForPermissionOnSourceAndDirectory() {
    Harness.Client alice = server.client("alice");
    client.mkdirs("/d", 0777);
    alice.closeInline(alice.opened("/d/t"), "t");
    client.closeInline(client.opened("/d/a"), "a");
    client.set(SetAttributes.newBuilder().setPath("/d/a").setPermission(0600));
    OpenedFile opened = alice.append("/d/t").getOpenedFile();
    assertStatus(concat(alice, "/d/t", closing(opened), "a"), Status.PERMISSION_DENIED);
    client.set(SetAttributes.newBuilder().setPath("/d/a").setPermission(0644));
    client.set(SetAttributes.newBuilder().setPath("/d").setPermission(0755));
    assertStatus(concat(alice, "/d/t", closing(opened), "a"), Status.PERMISSION_DENIED);
    client.set(SetAttributes.newBuilder().setPath("/d").setPermission(01777));
    assertStatus(concat(alice, "/d/t", closing(opened), "a"), Status.PERMISSION_DENIED);
    client.set(SetAttributes.newBuilder().setPath("/d").setPermission(0777));
    assertOk(concat(alice, "/d/t", closing(opened), "a"));
    assertThat(alice.info("/d/t").getLength()).isEqualTo(2);
  }

  @Test
  void shouldMoveABoundedNumberOfExtentsAtOnce() {
    server = new Harness(new HeapStore(Long.MAX_VALUE), List.of(900 * Harness.MIB));
    client = server.superuser();
    client.file("/t", 1);
    for (String name : List.of("a", "b", "c")) {
      OpenedFile opened = client.opened("/" + name);
      for (int i = 0; i < 4200; i++) {
        Extent extent = written(client.granted(opened, 1), i, 1);
        client.committed(commit(opened).addExtents(extent).setLength(i + 1));
      }
      client.committed(closing(opened).setLength(4200));
    }
    OpenedFile target = append("/t");
    assertThat(concat(client, "/t", closing(target), "a", "b", "c").getConcatenated()).isEqualTo(1);
    assertThat(client.info("/t").getUnderConstruction()).isTrue();
    assertThat(concat(client, "/t", closing(target), "b").getConcatenated()).isEqualTo(1);
    assertThat(client.info("/t").getLength()).isEqualTo(8401);
    assertThat(client.info("/t").getUnderConstruction()).isFalse();
    assertThat(client.names("/")).containsExactly("c", "t");
  }
}
