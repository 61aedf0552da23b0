package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.client.BlockPlaces;
import io.takofs.client.PathStatus;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class StatusesTest {
  private static final URI SERVER = URI.create("tako://host:7420");

  private static TakoFileStatus status(boolean directory, long length) {
    PathStatus status =
        new PathStatus(
            "/", "a", 1, 7, directory, length, 01751, "me", "us", 10, 20, 3, 100, false, 1, false);
    return Statuses.of(new Path("tako://host:7420/a"), status);
  }

  @Test
  void shouldTellEverythingOfAFile() {
    FileStatus file = status(false, 250);
    assertThat(file.getPath()).isEqualTo(new Path("tako://host:7420/a"));
    assertThat(file.isFile()).isTrue();
    assertThat(file.getLen()).isEqualTo(250);
    assertThat(file.getPermission().toShort()).isEqualTo((short) 01751);
    assertThat(file.getPermission().getStickyBit()).isTrue();
    assertThat(file.getOwner()).isEqualTo("me");
    assertThat(file.getGroup()).isEqualTo("us");
    assertThat(file.getModificationTime()).isEqualTo(10);
    assertThat(file.getAccessTime()).isEqualTo(20);
    assertThat(file.getReplication()).isEqualTo((short) 3);
    assertThat(file.getBlockSize()).isEqualTo(100);
  }

  private static TakoFileStatus entry() {
    PathStatus status =
        new PathStatus(
            "/d", "a", 1, 7, false, 5, 0644, "me", "us", 10, 20, 3, 100, false, 1, false);
    return Statuses.of(new ChildPaths(new Path("tako://host:7420/d"))::of, status);
  }

  @Test
  void shouldKnowThePathOfAnEntryHoweverItIsAskedFor() throws Exception {
    Path path = new Path("tako://host:7420/d/a");
    assertThat(entry().getPath()).isEqualTo(path);
    assertThat(entry()).isEqualTo(entry()).hasSameHashCodeAs(entry());
    assertThat(entry().toString()).contains("path=" + path);
    assertThat(new FileStatus(entry()).getPath()).isEqualTo(path);
    assertThat(Statuses.located(entry(), Statuses.blocks(entry(), 0, 1, SERVER)).getPath())
        .isEqualTo(path);

    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(entry());
    ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    assertThat(in.readObject())
        .isInstanceOfSatisfying(
            TakoFileStatus.class,
            read -> {
              assertThat(read.getPath()).isEqualTo(path);
              assertThat(read.identity()).isEqualTo(entry().identity());
            });
  }

  @Test
  void shouldKeepAPathThatWasSet() {
    Path other = new Path("view:///other");
    TakoFileStatus entry = entry();
    entry.setPath(other);
    assertThat(entry.getPath()).isEqualTo(other);
  }

  @Test
  void shouldCutARangeIntoTheBlocksItTouches() throws IOException {
    BlockLocation[] blocks = Statuses.blocks(status(false, 250), 150, 1000, SERVER);
    assertThat(blocks).hasSize(2);
    assertThat(blocks[0].getOffset()).isEqualTo(100);
    assertThat(blocks[0].getLength()).isEqualTo(100);
    assertThat(blocks[0].getHosts()).containsExactly("host");
    assertThat(blocks[0].getNames()).containsExactly("host:7420");
    assertThat(blocks[1].getOffset()).isEqualTo(200);
    assertThat(blocks[1].getLength()).isEqualTo(50);
  }

  @Test
  void shouldCoverAFileOnceWithItsBlocks() {
    for (long length = 0; length <= 401; length++) {
      long next = 0;
      for (BlockLocation block :
          Statuses.blocks(status(false, length), 0, Long.MAX_VALUE, SERVER)) {
        assertThat(block.getOffset()).isEqualTo(next);
        next += block.getLength();
      }
      assertThat(next).isEqualTo(length);
    }
  }

  @Test
  void shouldFindNoBlocksWhereThereAreNone() {
    assertThat(Statuses.blocks(status(false, 250), 250, 10, SERVER)).isEmpty();
    assertThat(Statuses.blocks(status(false, 0), 0, 10, SERVER)).isEmpty();
    assertThat(Statuses.blocks(status(true, 0), 0, 10, SERVER)).isEmpty();
    assertThatThrownBy(() -> Statuses.blocks(status(false, 1), -1, 1, SERVER))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldTellABoundedNumberOfBlocksHoweverSmallTheyAre() {
    for (long length : new long[] {999_999, 1_000_000, 1_000_001, 1L << 40, Long.MAX_VALUE}) {
      BlockLocation[] blocks = Statuses.blocks(status(false, length), 0, length, SERVER);
      assertThat(blocks.length).isBetween(1, Statuses.BLOCKS_MAX);
      long end = 0;
      for (BlockLocation block : blocks) {
        assertThat(block.getOffset()).isEqualTo(end);
        end += block.getLength();
      }
      assertThat(end).isEqualTo(length);
    }
  }

  @Test
  void shouldTellTheServersAndRacksOfABlock() throws IOException {
    BlockPlaces.Host near = new BlockPlaces.Host(1, "a", 7420, "/rack1");
    BlockPlaces.Host far = new BlockPlaces.Host(2, "b", 7421, "/rack2");
    BlockPlaces.Host other = new BlockPlaces.Host(3, "c", 7422, "/rack2");
    BlockLocation[] blocks =
        Statuses.blocks(
            List.of(
                new BlockPlaces(0, 10, 2, List.of(near, far, other), false),
                new BlockPlaces(10, 1, 0, List.of(), true)),
            SERVER);
    assertThat(blocks[0].getHosts()).containsExactly("a", "b");
    assertThat(blocks[0].getNames()).containsExactly("a:7420", "b:7421");
    assertThat(blocks[0].getTopologyPaths()).containsExactly("/rack1/a:7420", "/rack2/b:7421");
    assertThat(blocks[1].getHosts()).containsExactly(SERVER.getHost());
    assertThat(blocks[1].getOffset()).isEqualTo(10);
  }
}
