package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;

/**
 * The usage at and below a directory, and its limits. Its record, {@code Q id} in the server's map,
 * is: flags u8 (1 being counted), both limits + 1, names, space, detached, setOn.
 *
 * @param namesMax files and directories, its own included; {@link #NONE} for no limit
 * @param spaceMax bytes, each file's times its replication; {@link #NONE} for no limit
 * @param names what counts against namesMax
 * @param space what counts against spaceMax
 * @param detached directories deleted from below it, and from no quota nearer to them, whose
 *     contents count until they are reclaimed
 * @param counting whether names and space are of a part only, because the rest is being counted
 * @param setOn the directory's path when a limit was set last, for people
 */
public record Quota(
    long id,
    long namesMax,
    long spaceMax,
    long names,
    long space,
    long detached,
    boolean counting,
    String setOn) {
  /** No limit. */
  public static final long NONE = -1;

  /** Bytes of a path that are kept. */
  private static final int SET_ON_MAX = 1000;

  private static final int COUNTING = 1;

  /** Nothing counted yet, no limits. */
  public static Quota none(long id) {
    return new Quota(id, NONE, NONE, 0, 0, 0, false, "");
  }

  public static Quota decode(long id, byte[] value) {
    ByteReader in = new ByteReader(value);
    boolean counting = (in.u8() & COUNTING) != 0;
    return new Quota(
        id,
        in.variable() - 1,
        in.variable() - 1,
        in.variable(),
        in.variable(),
        in.variable(),
        counting,
        new String(in.rest(), UTF_8));
  }

  public byte[] encode() {
    return new ByteWriter(32 + setOn.length())
        .u8(counting ? COUNTING : 0)
        .variable(namesMax + 1)
        .variable(spaceMax + 1)
        .variable(names)
        .variable(space)
        .variable(detached)
        .raw(setOn.getBytes(UTF_8))
        .toBytes();
  }

  public boolean hasLimit() {
    return namesMax != NONE || spaceMax != NONE;
  }

  /**
   * Whether it limits nothing, and nothing would be lost with it but a count that can be repeated.
   */
  public boolean isIdle() {
    return !hasLimit() && !counting && detached == 0;
  }

  public Quota withLimits(long mostNames, long mostSpace, FilePath path) {
    String where = path.toString();
    if (where.getBytes(UTF_8).length > SET_ON_MAX) {
      where = "the directory with id %016x".formatted(id);
    }
    return new Quota(id, mostNames, mostSpace, names, space, detached, counting, where);
  }

  public Quota withMore(long moreNames, long moreSpace) {
    return new Quota(
        id, namesMax, spaceMax, names + moreNames, space + moreSpace, detached, counting, setOn);
  }

  Quota withDetached(int more) {
    return new Quota(id, namesMax, spaceMax, names, space, detached + more, counting, setOn);
  }

  public Quota withCounting(boolean unfinished) {
    return new Quota(id, namesMax, spaceMax, names, space, detached, unfinished, setOn);
  }

  /** Whether so much more would be too much; what is less, or as much, never is. */
  boolean isExceededBy(long moreNames, long moreSpace) {
    return (moreNames > 0 && namesMax != NONE && names + moreNames > namesMax)
        || (moreSpace > 0 && spaceMax != NONE && space + moreSpace > spaceMax);
  }

  /** Why it {@link #isExceededBy}. */
  String describe(long moreNames, long moreSpace) {
    return moreNames > 0 && namesMax != NONE && names + moreNames > namesMax
        ? "the quota of names set on %s is exceeded: quota=%d, files and directories=%d"
            .formatted(setOn, namesMax, names + moreNames)
        : "the quota of space set on %s is exceeded: quota=%d B, space consumed=%d B"
            .formatted(setOn, spaceMax, space + moreSpace);
  }
}
