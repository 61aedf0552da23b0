package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.memory.StableBytes;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts bytes into all replicas of granted extents, each over the connection to its server. Bytes
 * are checksummed once, and transfers to several servers are under way together.
 *
 * <p>A replica that fails is left out from then on, as long as each extent that is not committed
 * has another one: the writer sees it in {@link #failures} and moves those extents. The last
 * replica of an extent is waited for. The only one is, too, once bytes of the extent have come
 * there, committed or not; before that all of them are {@link #kept}, and the writer moves them.
 * When the grants there have ended, what has not come to it is kept likewise, and the writer moves
 * all its extents.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ReplicatedSink {
  /** A server where a writer cannot go on, and why. */
  record Failure(ServerLink server, TakoException cause) {
    /** Whether the leader does not let it: it says nothing of the server. */
    boolean grantsEnded() {
      return cause.status() == Status.STALE_VERSION;
    }
  }

  /** One server, and the way to write there. */
  private static final class Member {
    private final ZoneAccess access;
    private ExtentSink sink;
    private TakoException failure;

    /** Whether extents without another replica need not be waited for. */
    private final boolean mayGiveUp;

    /** Of those that were written since the last commit: where they end. */
    private final Map<Place, Integer> ends = new HashMap<>();

    private boolean waits; // since the last commit

    Member(ZoneAccess access) {
      this.access = access;
      this.mayGiveUp = !access.isPatient();
    }

    /** The extent at {@code place} has {@code end} bytes, those that are under way among them. */
    void note(Place place, int end) {
      if (mayGiveUp) {
        ends.put(place, end);
      }
    }

    ExtentSink sink() throws TakoException {
      if (sink == null) {
        sink = access.sink();
      }
      return sink;
    }

    boolean isPrepared() {
      return sink != null && sink.isPrepared();
    }

    boolean placesAtOnce() {
      return sink == null || sink.placesAtOnce();
    }

    boolean isCompleted() {
      return sink == null || sink.allCompleted();
    }

    /** What was written and may not have come to the server. */
    private KeptBytes unplaced() {
      KeptBytes unplaced = new KeptBytes();
      if (sink != null) {
        sink.showUnplaced(unplaced);
      }
      return unplaced;
    }

    /** Whether nothing that was written since the last commit has come to the server. */
    boolean hasPlacedNothing() {
      KeptBytes unplaced = unplaced();
      return ends.entrySet().stream()
          .allMatch(extent -> unplaced.hasAll(List.of(extent.getKey()), 0, extent.getValue()));
    }

    /** Writes nothing to the server any more; what has not come there is added to {@code kept}. */
    void keep(KeptBytes kept) {
      kept.addAll(unplaced());
      close();
      sink = new KeepingSink(kept);
    }

    boolean isKept() {
      return sink instanceof KeepingSink;
    }

    void close() {
      if (sink != null) {
        sink.close();
      }
    }
  }

  /** A step of a write, which each replica takes. */
  @FunctionalInterface
  private interface Step {
    void run(ExtentSink sink, Place place) throws TakoException;
  }

  private final FileAccess access;

  /** Servers with the only replica of an extent, and servers with one of several. */
  private final Map<Integer, Member> lone = new HashMap<>();

  private final Map<Integer, Member> members = new HashMap<>();

  /** The servers of the extents that were written since the last commit, each set once. */
  private final List<Member[]> uncommitted = new ArrayList<>();

  private final List<Failure> failures = new ArrayList<>();

  /** Those that failed, until the extents that they have were moved. */
  private final List<Member> left = new ArrayList<>();

  private final KeptBytes kept = new KeptBytes();

  /** The extents of {@link #kept} to whose server nothing was sent. */
  private final Set<Place> untouched = new HashSet<>();

  /** The extent that was written last, and its servers in the same order. */
  private List<Place> places = List.of();

  private Member[] targets = {};
  private boolean lost; // bytes that were sent may land at any time

  ReplicatedSink(FileAccess access) {
    this.access = access;
  }

  private Member[] targets(List<Place> wanted) throws TakoException {
    if (wanted != places) {
      Member[] found = new Member[wanted.size()];
      for (int i = 0; i < found.length; i++) {
        found[i] = found.length == 1 ? lone(wanted.get(0)) : member(wanted.get(i));
      }
      targets = found;
      places = wanted;
      addUncommitted(found);
    }
    return targets;
  }

  private Member lone(Place place) throws TakoException {
    Member known = lone.get(place.server());
    if (known != null && known.access.isOver() && known.ends.isEmpty()) {
      close(known); // nothing that was written since the last commit
      known = null;
    }
    if (known == null) {
      known = new Member(access.onlyWritten(place));
      lone.put(place.server(), known);
    }
    return known;
  }

  private Member member(Place place) {
    Member known = members.get(place.server());
    if (known != null && known.access.isOver() && !hasUncommitted(known)) {
      close(known); // nothing that was written since the last commit
      known = null;
    }
    if (known == null) {
      known = new Member(access.oneOf(place));
      members.put(place.server(), known);
    }
    return known;
  }

  private void close(Member member) {
    lost |= !member.isCompleted();
    member.close();
  }

  private boolean hasUncommitted(Member member) {
    return uncommitted.stream().anyMatch(set -> List.of(set).contains(member));
  }

  private void addUncommitted(Member[] set) {
    if (set.length > 1 && uncommitted.stream().noneMatch(known -> isSame(known, set))) {
      uncommitted.add(set);
    }
  }

  private static boolean isSame(Member[] one, Member[] other) {
    return List.of(one).equals(List.of(other));
  }

  /** Writes the remaining bytes of {@code source} at {@code offset} within the extent. */
  void write(List<Place> extent, int offset, ByteBuffer source) throws TakoException {
    Member[] to = targets(extent);
    note(offset);
    prepare(to);
    each(to, 0, (sink, place) -> sink.write(place, offset, source.duplicate()));
    note(offset + source.remaining());
    source.position(source.limit());
  }

  /**
   * As {@link #write}, of {@code count} granules at the source's position, at most a batch; {@code
   * crcs} gets the checksums of what is written, which is the same in all replicas.
   */
  void writeGranules(List<Place> extent, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    Member[] to = targets(extent);
    int length = count * Layout.GRANULE_SIZE;
    note(offset);
    prepare(to);
    if (to.length == 1) {
      attempt(
          to[0],
          extent.get(0),
          (sink, place) -> writeStable(sink, place, offset, source, count, crcs));
    } else {
      writeAll(to, extent, offset, source, count, crcs);
    }
    note(offset + length);
    source.position(source.position() + length);
  }

  /**
   * Has each of {@code to} take the memory that it needs, before a byte is written. While there is
   * too little, this writer keeps none: writers that kept a buffer for one server while they wait
   * for that of another would wait for each other.
   */
  private void prepare(Member[] to) throws TakoException {
    Member without = prepareAll(to);
    if (without == null) {
      return;
    }
    long deadlineNs = access.deadline(); // of no server: none of them is to blame
    while (without != null) {
      flush();
      attempt(without, null, (sink, place) -> sink.awaitMemory(to.length, deadlineNs));
      without = prepareAll(to);
    }
  }

  /** Returns the first for which there is no memory; null when all have some. */
  private Member prepareAll(Member[] to) throws TakoException {
    for (Member member : to) {
      if (!member.isPrepared()) {
        attempt(member, null, (sink, place) -> sink.tryPrepare());
        if (member.failure == null && !member.isPrepared()) {
          return member;
        }
      }
    }
    return null;
  }

  /** Writes what cannot change between the checksum and the copy. */
  private static void writeStable(
      ExtentSink sink, Place place, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    if (sink.copiesFirst()) {
      sink.writeGranules(place, offset, source.duplicate(), count, crcs);
    } else {
      try (StableBytes stable = StableBytes.of(source, count * Layout.GRANULE_SIZE)) {
        sink.writeGranules(place, offset, stable.bytes(), count, crcs);
      }
    }
  }

  private void writeAll(
      Member[] to, List<Place> extent, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    try (StableBytes stable = StableBytes.of(source, count * Layout.GRANULE_SIZE)) {
      Member first = to[0];
      // Together with the first copy, which costs no second pass over the bytes.
      attempt(
          first,
          extent.get(0),
          (sink, place) -> sink.writeGranules(place, offset, stable.bytes(), count, crcs));
      if (first.failure != null) {
        Granules.checksums(stable.bytes(), 0, count, crcs);
      }
      each(to, 1, (sink, place) -> sink.write(place, offset, stable.bytes()));
    }
  }

  /** The present extent ends at {@code end}: of interest where it has one replica. */
  private void note(int end) {
    if (targets.length == 1) {
      targets[0].note(places.get(0), end);
    }
  }

  /**
   * Writes the checksum entries of {@code count} full granules, from {@code granule} on, of the
   * extent that was written last; granules come in order, soon after their bytes.
   */
  void writeChecksums(List<Place> extent, int granule, int[] crcs, int count) throws TakoException {
    Member[] to = targets(extent);
    each(to, 0, (sink, place) -> sink.writeChecksums(place, granule, crcs, count));
  }

  private void each(Member[] to, int from, Step step) throws TakoException {
    for (int i = from; i < to.length; i++) {
      attempt(to[i], places.get(i), step);
    }
  }

  /** Does {@code step} at one replica; if that fails, the replica fails, unless it is the last. */
  private void attempt(Member member, Place place, Step step) throws TakoException {
    while (member.failure == null) {
      try {
        step.run(member.sink(), place);
        return;
      } catch (TakoException e) {
        boolean unsent = member.sink == null; // it was not even reached
        lost |= !unsent;
        if (e instanceof NoSessionException) {
          throw e; // the leader is away, which says nothing of this server
        }
        Failure failure = new Failure(member.access.server(), e);
        if (!failure.grantsEnded() && !isOfServer(e.status())) {
          throw e;
        }
        if (mayLeave(member)) {
          member.failure = e;
          failures.add(failure);
        } else if (failure.grantsEnded() || mayGiveUp(member)) {
          if (unsent) {
            untouched.addAll(member.ends.keySet());
          }
          member.keep(kept);
          failures.add(failure);
        } else if (member.access.bePatient()) {
          member.waits = true;
        } else {
          throw e;
        }
      }
    }
  }

  /** Whether others can be written to after such a failure: it is not of the file or its lease. */
  private static boolean isOfServer(Status status) {
    return switch (status) {
      case LEASE_LOST, SESSION_EXPIRED, NO_SPACE, NOT_FOUND, SAFE_MODE, STALE_VERSION -> false;
      default -> true;
    };
  }

  /** Whether each extent that is not committed has another replica that works. */
  private boolean mayLeave(Member member) {
    if (lone.containsValue(member)) {
      return false;
    }
    for (Member[] set : uncommitted) {
      List<Member> servers = List.of(set);
      if (servers.contains(member)
          && servers.stream().noneMatch(other -> other != member && other.failure == null)) {
        return false;
      }
    }
    return true;
  }

  /** Whether what was written to the only replica of extents can go to other extents. */
  private boolean mayGiveUp(Member member) {
    return lone.containsValue(member) && member.mayGiveUp && member.hasPlacedNothing();
  }

  /** Whether a replica has failed and {@link #takeFailures} was not called since. */
  boolean hasFailures() {
    return !failures.isEmpty();
  }

  /**
   * Returns the failures since the last call, and leaves their servers, which are connected anew
   * when they are used again. Of the extents that they have, another replica goes on being needed
   * until {@link #moved}.
   */
  List<Failure> takeFailures() {
    List<Failure> taken = List.copyOf(failures);
    failures.clear();
    for (Failure failure : taken) {
      if (!failure.grantsEnded()) {
        leave(failure.server());
      }
    }
    places = List.of();
    return taken;
  }

  private void leave(ServerLink server) {
    Member only = lone.get(server.id());
    if (only != null && only.isKept()) {
      lone.remove(server.id());
    }
    Member member = members.get(server.id());
    if (member != null && member.failure != null) {
      members.remove(server.id());
      member.close();
      left.add(member);
    }
    server.suspect();
  }

  /**
   * The grants of what is not committed have ended: nothing is written any more to those extents,
   * which the writer moves. What has not come to their servers is {@link #kept}.
   */
  void endGrants() {
    for (Member member : all()) {
      lost |= !member.isCompleted();
      member.keep(kept);
    }
    lone.clear();
    members.clear();
    uncommitted.clear();
    places = List.of();
  }

  private List<Member> all() {
    List<Member> all = new ArrayList<>(members.values());
    all.addAll(lone.values());
    return all;
  }

  /** Bytes of extents whose grants have ended, which belong over what their servers have. */
  KeptBytes kept() {
    return kept;
  }

  /** Whether nothing was sent to an extent of which bytes are {@link #kept}. */
  boolean isUntouched(List<Place> extent) {
    return untouched.containsAll(extent);
  }

  /**
   * The bytes of {@code extent} that were not committed are elsewhere, and its place may be granted
   * anew.
   */
  void forget(List<Place> extent) {
    kept.remove(extent);
    untouched.removeAll(extent);
  }

  /** The writer has moved what was not committed from the servers of {@link #takeFailures}. */
  void moved() {
    uncommitted.removeIf(set -> !Collections.disjoint(List.of(set), left));
    left.clear();
    kept.clear();
    untouched.clear();
  }

  /**
   * Returns when everything written is placed in the memory of all servers that have not failed.
   */
  void flush() throws TakoException {
    flush((sink, place) -> sink.startFlush());
    flush((sink, place) -> sink.flush());
  }

  private void flush(Step step) throws TakoException {
    flush(members.values(), step);
    flush(lone.values(), step);
  }

  private void flush(Collection<Member> some, Step step) throws TakoException {
    for (Member member : some) {
      if (!member.placesAtOnce()) {
        attempt(member, null, step);
      }
    }
  }

  /** Whether the extent that was written last has in all replicas what was written to it. */
  boolean placesAtOnce() {
    for (Member member : targets) {
      if (!member.placesAtOnce()) {
        return false;
      }
    }
    return true;
  }

  /** A commit of everything that was written succeeded. */
  void committed() {
    for (Member member : lone.values()) {
      member.ends.clear();
      if (member.waits) {
        member.access.beBrief();
        member.waits = false;
      }
    }
    uncommitted.clear();
    left.clear();
    places = List.of();
  }

  /** Whether nothing that was ever begun can still land in the memory of a server. */
  boolean allCompleted() {
    return !lost
        && lone.values().stream().allMatch(Member::isCompleted)
        && members.values().stream().allMatch(Member::isCompleted);
  }

  /** Releases buffers and discards bytes that were not flushed. */
  void close() {
    lone.values().forEach(Member::close);
    members.values().forEach(Member::close);
  }
}
