package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.PoolFile;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A file open for reading: caches its extents and reads at positions.
 *
 * <p>Thread rule: any thread.
 */
public final class FileReader {
  /** Extents asked for at once: their records fit a reply slot twice over. */
  private static final int BATCH = 512;

  /** Extents whose checksums are remembered: 1 KiB each. Beyond, they are read with the data. */
  private static final int CHECKSUMS_MAX = 4096;

  /** Extents that are remembered at once; a reader of more starts over. */
  private static final int EXTENTS_MAX = 65536;

  /** Attempts at an extent whose bytes are wrong before they count as corrupt. */
  private static final int STALE_MAX = 3;

  /** The same, of an extent that is another one each time. */
  private static final int ATTEMPTS_MAX = 10;

  /** The known part of the file's state; replaced as a whole. */
  private record View(FileInfo file, ByteBuffer inline, ExtentIndex extents) {
    long length() {
      return file.getLength();
    }

    /** Position after the bytes that are in extents. */
    long extentsEnd() {
      return length() - inline.limit();
    }
  }

  private final Session session;
  private final String path;
  private final FileAccess access;
  private volatile View view;

  /** Made with the first read of an extent: small files need none. */
  private volatile ReplicatedSource source;

  private FileReader(Session session, FileAccess access, String path) {
    this.session = session;
    this.access = access;
    this.path = path;
  }

  /** Opens the file at {@code path}, to be read from {@code start} on. */
  public static FileReader open(Session session, FileAccess access, String path, long start)
      throws TakoException {
    FileReader reader = new FileReader(session, access, path);
    reader.fetch(GetExtents.newBuilder().setPath(path).setOffset(start).setLimit(BATCH), null);
    return reader;
  }

  /**
   * Opens the file {@code id}, which was at {@code path}, in the directory {@code parentId},
   * wherever it is now.
   */
  public static FileReader openById(
      Session session, FileAccess access, String path, long parentId, long id)
      throws TakoException {
    FileReader reader = new FileReader(session, access, path);
    GetExtents.Builder file =
        GetExtents.newBuilder()
            .setPath(path)
            .setFileId(id)
            .setById(true)
            .setParentId(parentId)
            .setLimit(BATCH);
    reader.fetch(file, null);
    return reader;
  }

  /** Id of the file. */
  public long id() {
    return view.file.getId();
  }

  /** The file's version as of the last commit that this reader has seen. */
  public long version() {
    return view.file.getVersion();
  }

  /** Committed length as last seen. */
  public long length() {
    return view.length();
  }

  public String path() {
    return path;
  }

  /** Committed length now, if the file may have grown since it was last seen. */
  public long currentLength() throws TakoException {
    View known = view;
    return known.file.getUnderConstruction() ? refetch(known.length()).length() : known.length();
  }

  /**
   * Reads from {@code position} into {@code target}: all that fits and is there.
   *
   * @param ahead of the stream that reads on from here; null for reads at random positions
   * @return bytes read, -1 at or after the end of file
   */
  public int read(long position, ByteBuffer target, ReadAhead ahead) throws TakoException {
    if (!target.hasRemaining()) {
      return 0;
    }
    int start = target.position();
    while (target.hasRemaining()) {
      long from = position + (target.position() - start);
      View known = view;
      if (from >= known.length()) {
        if (!known.file.getUnderConstruction() || from >= refetch(from).length()) {
          break;
        }
      } else if (from >= known.extentsEnd()) {
        readInline(known, from, target);
      } else if (ahead == null || ahead.read(from, target) == 0) {
        readExtent(from, target);
      }
    }
    int count = target.position() - start;
    return count == 0 ? -1 : count;
  }

  /**
   * Reads into each of {@code targets} from the position with the same index, as far as the file
   * goes: together where a transfer costs a round trip.
   */
  public void read(long[] positions, ByteBuffer[] targets) throws TakoException {
    List<BatchRead.Piece> pieces = new ArrayList<>();
    TakoException failure = null;
    try {
      readTogether(positions, targets, pieces);
    } catch (TakoException e) {
      failure = e; // what is there already counts all the same
    }
    int next = 0;
    for (int i = 0; i < targets.length; i++) {
      ByteBuffer target = targets[i];
      int there = 0;
      boolean whole = true;
      for (; next < pieces.size() && pieces.get(next).range() == i; next++) {
        ByteBuffer piece = pieces.get(next).target();
        there += whole ? piece.position() : 0;
        whole &= !piece.hasRemaining();
      }
      target.position(target.position() + there);
      if (whole && failure == null) {
        // The rest: everything where nothing is transferred, and the bytes after the last extent.
        read(positions[i] + there, target, null);
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void readTogether(long[] positions, ByteBuffer[] targets, List<BatchRead.Piece> pieces)
      throws TakoException {
    if (!isTransferred()) {
      return;
    }
    for (int i = 0; i < targets.length; i++) {
      addPieces(positions[i], targets[i], i, pieces);
    }
    new BatchRead(access).read(pieces);
    for (BatchRead.Piece piece : pieces) {
      read(piece.position(), piece.target(), null); // unless it is there
    }
  }

  /** The parts of a range in extents, as far as those are known or can be found out. */
  private void addPieces(long start, ByteBuffer target, int index, List<BatchRead.Piece> pieces)
      throws TakoException {
    int done = 0;
    while (done < target.remaining()) {
      long position = start + done;
      View known = view;
      ExtentView extent = known.extents.find(position);
      if (extent == null && position < known.extentsEnd()) {
        extent = refetch(position).extents.find(position);
      }
      if (extent == null) {
        return;
      }
      int count = (int) Math.min(target.remaining() - done, extent.end() - position);
      ByteBuffer slice = target.slice(target.position() + done, count);
      pieces.add(new BatchRead.Piece(index, extent, position, slice));
      done += count;
    }
  }

  /**
   * For one stream that reads on and on; null where nothing is gained by it.
   *
   * @param eager whether as much as is allowed is fetched ahead from the first read on
   * @param bytes to fetch ahead at most; negative for what is configured
   */
  public ReadAhead readAhead(boolean eager, long bytes) throws TakoException {
    return isTransferred()
        ? access.readAhead(position -> view.extents.find(position), eager, bytes)
        : null;
  }

  /** Whether the first known extent is transferred, and not mapped. */
  private boolean isTransferred() throws TakoException {
    ExtentView first = view.extents.first();
    return first != null && access.transfers(first);
  }

  /** The file in which the bytes at {@code place} can be looked at; null when they cannot. */
  PoolFile poolFile(ExtentView extent, Place place) throws TakoException {
    return access.poolFile(extent, place);
  }

  /** The place of a replica that is mapped here; null when there is none. */
  Place mappedPlace(ExtentView extent) throws TakoException {
    return access.transfers(extent) ? null : ReplicaOrder.first(access, extent);
  }

  /** Up to {@code count} extents that follow each other, the first with the byte at position. */
  List<ExtentView> known(long position, int count) throws TakoException {
    View seen = view;
    if (position >= seen.extentsEnd() && seen.file.getUnderConstruction()) {
      seen = refetch(position);
    }
    if (position >= seen.extentsEnd()) {
      return List.of();
    }
    if (view.extents.find(position) == null) {
      refetch(position);
    }
    return view.extents.from(position, count);
  }

  /**
   * As {@link #known}, as the server sees it now, and nothing that was known before; none when the
   * file is gone.
   */
  List<ExtentView> knownAgain(long position, int count) throws TakoException {
    try {
      ExtentMap map = ask(again(position).setLimit(count));
      return ExtentIndex.EMPTY.with(views(map, true)).from(position, count);
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }

  private ReplicatedSource source() {
    ReplicatedSource made = source;
    if (made == null) {
      made = access.source();
      source = made;
    }
    return made;
  }

  private static void readInline(View known, long from, ByteBuffer target) {
    int count = (int) Math.min(target.remaining(), known.length() - from);
    target.put(target.position(), known.inline, (int) (from - known.extentsEnd()), count);
    target.position(target.position() + count);
  }

  private void readExtent(long from, ByteBuffer target) throws TakoException {
    Set<Integer> wrong = Set.of();
    Extent before = null;
    for (int attempt = 1; ; attempt++) {
      ExtentView extent = view.extents.find(from);
      if (extent == null) {
        View now = refetch(from);
        extent = now.extents.find(from);
        if (extent == null && from < now.extentsEnd()) {
          throw failure(Status.INTERNAL, "the server shows no extent at position " + from, null);
        }
      }
      if (extent == null) {
        // Truncated meanwhile, or inline now: look again at the whole.
        return;
      }
      int count = (int) Math.min(target.remaining(), extent.end() - from);
      try {
        source().read(extent, (int) (from - extent.start()), count, target, wrong);
        return;
      } catch (TransportChangedException e) {
        if (attempt == STALE_MAX) {
          throw e;
        }
        source = null;
      } catch (NoSessionException e) {
        throw e; // the leader is away
      } catch (TakoException e) {
        throw ReplicatedSource.isOfServer(e.status())
            ? failure(
                e.status(), "no server gives " + bytes(extent, from) + ": " + e.getMessage(), e)
            : e;
      } catch (StaleExtentException e) {
        if (!extent.extent().equals(before)) {
          wrong = new HashSet<>();
          before = extent.extent();
        } else if (wrong.add(e.server())) {
          reportWrongBytes(extent, e);
        }
        Set<Integer> tried = wrong;
        boolean allWrong =
            extent.places().stream().allMatch(place -> tried.contains(place.server()));
        if (attempt >= STALE_MAX && (allWrong || attempt == ATTEMPTS_MAX)) {
          throw corrupt(extent, from, e);
        }
        view = new View(view.file, view.inline, ExtentIndex.EMPTY);
      }
    }
  }

  /** The list of extents is not old, so the bytes are bad, on this server at least. */
  private void reportWrongBytes(ExtentView extent, StaleExtentException e) {
    if (extent.places().size() > 1) {
      ServerLink server = session.servers().at(e.server());
      access.report(extent.extent(), server, true, e.getMessage());
    }
  }

  private TakoException corrupt(ExtentView extent, long from, StaleExtentException e) {
    return failure(
        Status.CORRUPT,
        e.getMessage()
            + ", of "
            + bytes(extent, from)
            + "; the memory is damaged or was written by someone else",
        e);
  }

  /** Names bytes, and where they are. */
  private String bytes(ExtentView extent, long from) {
    long blockSize = Math.max(1, view.file.getBlockSize());
    String servers =
        extent.places().stream()
            .map(place -> session.servers().at(place.server()).name())
            .collect(Collectors.joining(", "));
    return "the bytes from %d on, in the block at %d, on %s"
        .formatted(from, from / blockSize * blockSize, servers);
  }

  private TakoException failure(Status status, String what, Exception cause) {
    return new TakoException(
        status, "read " + path + " on " + session.server() + ": " + what, cause);
  }

  private View refetch(long position) throws TakoException {
    View known = view;
    return fetch(again(position), known);
  }

  private GetExtents.Builder again(long position) {
    return GetExtents.newBuilder()
        .setPath(path)
        .setFileId(view.file.getId())
        .setParentId(view.file.getParentId())
        .setOffset(position)
        .setLimit(BATCH);
  }

  private View fetch(GetExtents.Builder what, View known) throws TakoException {
    ExtentMap map = ask(what);
    FileInfo file = map.getFile();
    boolean goesOn =
        known != null
            && known.file.getVersion() == file.getVersion()
            && known.extents.size() < EXTENTS_MAX;
    ExtentIndex base = goesOn ? known.extents : ExtentIndex.EMPTY;
    boolean keepChecksums = base.size() < CHECKSUMS_MAX;
    ByteBuffer inline = map.getInlineData().asReadOnlyByteBuffer();
    View fetched = new View(file, inline, base.with(views(map, keepChecksums)));
    view = fetched;
    return fetched;
  }

  private ExtentMap ask(GetExtents.Builder what) throws TakoException {
    return session.call("read", path, Request.newBuilder().setGetExtents(what)).getExtentMap();
  }

  private List<ExtentView> views(ExtentMap map, boolean keepChecksums) throws TakoException {
    List<ExtentView> views = new ArrayList<>(map.getExtentsCount());
    for (Extent extent : map.getExtentsList()) {
      views.add(new ExtentView(extent, session.slabs().places(extent), keepChecksums));
    }
    return views;
  }
}
