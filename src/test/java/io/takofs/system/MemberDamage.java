package io.takofs.system;

import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/** Bits that change in what a server which does not run keeps of the namespace. */
enum MemberDamage {
  /** Both copies of what it has promised. */
  PROMISE {
    @Override
    void flip(Meta meta) throws IOException {
      meta.flip(meta.slot(0) + Layout.PROMISE_OFFSET + 9);
      meta.flip(meta.slot(1) + Layout.PROMISE_OFFSET + 9);
    }
  },
  /** Both headers of a segment. */
  HEADERS {
    @Override
    void flip(Meta meta) throws IOException {
      long slot = meta.slot(meta.slotInUse());
      meta.flip(slot + Layout.SEGMENT_HEADER_TERM_OFFSET);
      meta.flip(slot + Layout.SEGMENT_HEADER_COPY_B + Layout.SEGMENT_HEADER_TERM_OFFSET);
    }
  },
  /** The first entry of a segment. */
  ENTRY {
    @Override
    void flip(Meta meta) throws IOException {
      meta.flip(meta.slot(meta.slotInUse()) + Layout.SEGMENT_DATA_OFFSET + 41);
    }
  },
  /** Both copies of the roots of its checkpoint. */
  ROOTS {
    @Override
    void flip(Meta meta) throws IOException {
      meta.flip(meta.page(0) + Layout.CHECKPOINT_INDEX_OFFSET);
      meta.flip(meta.page(1) + Layout.CHECKPOINT_INDEX_OFFSET);
    }
  },
  /** A page of its checkpoint. */
  PAGE {
    @Override
    void flip(Meta meta) throws IOException {
      meta.flip(meta.page(meta.aRoot()) + Layout.PAGE_SIZE / 2);
    }
  };

  private static final int SEALED = 2;
  private static final int OPEN = 1;

  abstract void flip(Meta meta) throws IOException;

  /** Whether a vote of the member, or an entry that it has, may be lost. */
  boolean isOfLog() {
    return this != ROOTS && this != PAGE;
  }

  /** Damages what {@code server} has. */
  void of(ServerProcess server) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            server.pool().resolve("meta"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      flip(new Meta(file));
    }
  }

  /** The file with the log and the pages. */
  static final class Meta {
    private final FileChannel file;

    Meta(FileChannel file) {
      this.file = file;
    }

    void flip(long at) throws IOException {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 16)).flip();
      file.write(one, at);
    }

    private ByteBuffer read(long at, int count) throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
      file.read(bytes, at);
      return bytes;
    }

    long slot(int slot) throws IOException {
      long log = read(Layout.SUPERBLOCK_LOG_OFFSET_OFFSET, Long.BYTES).getLong(0);
      return log + (long) slot * Layout.SEGMENT_SIZE;
    }

    long page(int page) throws IOException {
      long pages = read(Layout.SUPERBLOCK_PAGE_OFFSET_OFFSET, Long.BYTES).getLong(0);
      return pages + (long) page * Layout.PAGE_SIZE;
    }

    /** The slot of the newest segment that says that it has entries. */
    int slotInUse() throws IOException {
      long slots =
          read(Layout.SUPERBLOCK_LOG_LENGTH_OFFSET, Long.BYTES).getLong(0) / Layout.SEGMENT_SIZE;
      int newest = -1;
      long newestSequence = 0;
      for (int slot = 0; slot < slots; slot++) {
        ByteBuffer header = read(slot(slot), Layout.SEGMENT_HEADER_SIZE);
        int state = header.get(Layout.SEGMENT_HEADER_STATE_OFFSET);
        long sequence = header.getLong(Layout.SEGMENT_HEADER_SEGMENT_SEQUENCE_OFFSET);
        boolean committed =
            state == SEALED
                || (state == OPEN && read(slot(slot) + Layout.SEGMENT_MARK_A, 4).getInt(0) > 0);
        if (committed && sequence > newestSequence) {
          newest = slot;
          newestSequence = sequence;
        }
      }
      if (newest < 0) {
        throw new AssertionError("no segment of the log has entries");
      }
      return newest;
    }

    int aRoot() throws IOException {
      ByteBuffer checkpoint = read(page(0), Layout.CHECKPOINT_SIZE);
      for (int tree = 0; tree < Layout.STORE_TREES; tree++) {
        int root = checkpoint.getInt(Layout.CHECKPOINT_ROOTS_OFFSET + Integer.BYTES * tree);
        if (root != 0) {
          return root;
        }
      }
      throw new AssertionError("the checkpoint has no pages");
    }
  }
}
