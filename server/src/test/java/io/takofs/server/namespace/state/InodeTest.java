package io.takofs.server.namespace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.extent.SlabRange;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InodeTest {
  private static Inode random(Random random) {
    Inode inode = new Inode();
    inode.id = random.nextLong();
    inode.directory = random.nextBoolean();
    inode.open = random.nextBoolean();
    inode.permission = random.nextInt(010000);
    inode.owner = "o".repeat(random.nextInt(256));
    inode.group = "\u00e9".repeat(random.nextInt(128));
    inode.modificationMs = random.nextLong() >> random.nextInt(64);
    inode.accessMs = random.nextLong() >> random.nextInt(64);
    if (!inode.directory) {
      inode.length = random.nextLong() >>> (1 + random.nextInt(63));
      if (random.nextBoolean()) {
        inode.inlineLength = (int) Math.min(inode.length, random.nextInt(10_000));
      }
      inode.replication = 1 + random.nextInt(512);
      inode.blockSize = 1 + (random.nextLong() >>> (1 + random.nextInt(63)));
      inode.version = random.nextLong() >>> (1 + random.nextInt(63));
    }
    return inode;
  }

  @Test
  void shouldDecodeWhatItEncodes() {
    Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      Inode inode = random(random);
      byte[] value = inode.encode();
      assertThat(Inode.isDirectory(value)).isEqualTo(inode.directory);
      Inode decoded = Inode.decode(value, null);
      assertThat(describe(decoded)).isEqualTo(describe(inode));
    }
  }

  private static List<Object> describe(Inode inode) {
    return List.of(
        inode.id,
        inode.directory,
        inode.open,
        inode.hasExtents(),
        inode.inlineLength,
        inode.permission,
        inode.owner,
        inode.group,
        inode.modificationMs,
        inode.accessMs,
        inode.length,
        inode.replication,
        inode.blockSize,
        inode.version);
  }

  @Test
  void shouldStayAsLongWhenAFileIsClosed() {
    Random random = new Random(2);
    for (int i = 0; i < 1000; i++) {
      Inode inode = random(random);
      int length = inode.encode().length;
      inode.open = !inode.open;
      assertThat(inode.encode()).hasSize(length);
    }
  }

  @Test
  void shouldTakeFewBytesForAnOrdinaryFile() {
    Inode inode = Inode.directory(1L << 40, 0644, "hadoop", "supergroup", 1_800_000_000_000L);
    assertThat(inode.encode()).hasSize(36);
    inode.directory = false;
    inode.length = 5L << 30;
    inode.replication = 1;
    inode.blockSize = 128 << 20;
    inode.version = 40;
    assertThat(inode.encode()).hasSize(45);
  }

  @Test
  void shouldDecodeExtents() {
    Random random = new Random(3);
    for (int i = 0; i < 1000; i++) {
      FileExtent extent =
          new FileExtent(
              random.nextLong() >>> 1,
              new SlabRange(
                  random.nextInt(1 << 20), random.nextInt(256) * 65536, 65536 << random.nextInt(5)),
              random.nextLong() >>> 24, // an index of the log
              1 + random.nextInt(1 << 20),
              random.nextInt(),
              random.nextInt(),
              false,
              0);
      assertThat(FileExtent.decode(extent.fileOffset(), extent.encode())).isEqualTo(extent);
      assertThat(extent.encode().length).isLessThanOrEqualTo(24);
      FileExtent sealed = extent.seal(random.nextLong());
      assertThat(FileExtent.decode(sealed.fileOffset(), sealed.encode())).isEqualTo(sealed);
    }
  }
}
