package io.takofs.server.namespace.state;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.TakoException;
import io.takofs.proto.FormatGroup;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.GroupSlabs;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.List;

/**
 * The store and what is derived from it. A start reads the few records of sessions, results,
 * grants, quarantine, quotas, leases and files to be moved, and takes the rest from the summary.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class State {
  public final Store store;
  public final AclTable acls;
  public final XAttrTable xattrs;
  public final DirectoryTree tree;
  public final QuotaTable quotas;
  public final FileData data;
  public final Locations locations;
  public final LeaseTable leases;
  public final SessionTable sessions;
  public final ResultTable results;
  public final ExtentTable extents;
  public final FilesToMove toMove;

  private static final byte[] FORMAT = {Keys.FORMAT};
  private static final byte[] COUNTS = {Keys.ENTRY};

  private Limits limits;
  private long files;
  private long directories;
  private long committedBytes;
  private long latestMs;

  /**
   * Takes {@code store} as it is: its records, of which only few are looked at, and its summary.
   */
  public State(Store store) {
    this.store = store;
    acls = new AclTable(store);
    xattrs = new XAttrTable(store);
    tree = new DirectoryTree(store, acls);
    quotas = new QuotaTable(store, tree);
    data = new FileData(store);
    locations = new Locations(store, tree);
    leases = new LeaseTable(store);
    sessions = new SessionTable(store.server());
    results = new ResultTable(store.server());
    extents = new ExtentTable(store.server(), store.summary());
    toMove = new FilesToMove(store.server());
    byte[] format = store.server().get(FORMAT);
    limits = format == null ? null : Limits.of(decode(format));
    byte[] counts = store.summary().get(COUNTS);
    if (counts != null) {
      ByteReader in = new ByteReader(counts);
      files = in.variable();
      directories = in.variable();
      latestMs = in.isAtEnd() ? 0 : in.variable(); // which earlier builds did not write
    }
    leases.restore();
  }

  private static FormatGroup decode(byte[] format) {
    try {
      return FormatGroup.parseFrom(format);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the group's first entry cannot be read", e);
    }
  }

  /** Writes what a start takes from the summary instead of from all records. */
  public void summarize() throws TakoException {
    extents.summarize(store.summary());
    ByteWriter counts = new ByteWriter(30).variable(files).variable(directories).variable(latestMs);
    store.summary().put(COUNTS, counts.toBytes());
  }

  /** Whether the group's first entry was applied. */
  public boolean isFormatted() {
    return limits != null;
  }

  /** Keeps the limits, and makes the root directory. */
  public void format(Transaction tx, FormatGroup format) {
    tx.put(store.server(), FORMAT, format.toByteArray());
    limits = Limits.of(format);
    directories++;
    tx.undoWith(
        () -> {
          limits = null;
          directories--;
        });
    tree.makeRoot(tx, limits);
  }

  /** Changes how many copies of file data are kept at most. */
  public void setReplicationMax(Transaction tx, int copies) {
    FormatGroup after =
        decode(store.server().get(FORMAT)).toBuilder().setReplicationMax(copies).build();
    Limits before = limits;
    tx.put(store.server(), FORMAT, after.toByteArray());
    limits = Limits.of(after);
    tx.undoWith(() -> limits = before);
  }

  /** The limits in force. */
  public Limits limits() {
    return limits;
  }

  public GroupSlabs slabs() {
    return extents.slabs();
  }

  /** The records of the committed extents in a slab, in their order there. */
  public List<FileExtent> committedIn(long slab) {
    return extents.committedIn(slab).stream()
        .map(extent -> data.at(extent.fileId(), extent.fileOffset()))
        .toList();
  }

  /** Whether the writer of an extent in quarantine may read it back: it has not given it up. */
  public boolean isKept(Quarantined extent) {
    Lease lease = extent.file() == 0 ? null : leases.get(extent.file());
    return lease != null && lease.clientId() == extent.grantee();
  }

  /** Whether what is in a slab only rests in quarantine, and no writer may read it back. */
  public boolean isUnused(long slab) {
    return extents.isUnused(slab, this::isKept);
  }

  /** An entry of this time is applied, ms. */
  public void advanceTo(long timeMs) {
    latestMs = Math.max(latestMs, timeMs);
  }

  /** The latest time of any entry that was applied, ms: no later one may have an earlier time. */
  public long latestMs() {
    return latestMs;
  }

  /** Files that have a directory entry, attached or not. */
  public long files() {
    return files;
  }

  /** Directories that have an entry, attached or not, the root included. */
  public long directories() {
    return directories;
  }

  /** Bytes that commits have added to files since the start, those of a replay included. */
  public long committedBytes() {
    return committedBytes;
  }

  /** Counts bytes that a commit adds to a file. */
  public void countCommitted(Transaction tx, long bytes) {
    committedBytes += bytes;
    tx.undoWith(() -> committedBytes -= bytes);
  }

  /** Counts an entry that is made (1) or removed (-1). */
  public void count(Transaction tx, Inode inode, int change) {
    add(inode.directory, change);
    tx.undoWith(() -> add(inode.directory, -change));
  }

  private void add(boolean directory, int change) {
    if (directory) {
      directories += change;
    } else {
      files += change;
    }
  }
}
