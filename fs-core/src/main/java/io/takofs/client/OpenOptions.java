package io.takofs.client;

/**
 * Expected use of a file that is opened; only speed depends on it. Immutable; start from {@link
 * #DEFAULT}.
 *
 * @param pattern what is fetched before it is wanted
 * @param start position of the first read; in a file of very many extents, those around it are
 *     asked for first
 */
public record OpenOptions(ReadPattern pattern, long start) {
  /** Read from the beginning; read-ahead adapts to the following reads. */
  public static final OpenOptions DEFAULT = new OpenOptions(ReadPattern.ADAPTIVE, 0);

  public OpenOptions withPattern(ReadPattern expected) {
    return new OpenOptions(expected, start);
  }

  /** Negative is taken for 0. */
  public OpenOptions withStart(long position) {
    return new OpenOptions(pattern, Math.max(0, position));
  }

  /** In which order bytes will be read. */
  public enum ReadPattern {
    /** Unknown: the longer a reader goes on without a jump, the more is fetched ahead. */
    ADAPTIVE,
    /** One after the other: as much as is allowed is fetched ahead from the first read on. */
    SEQUENTIAL,
    /** Here and there: nothing is fetched ahead. */
    RANDOM
  }
}
