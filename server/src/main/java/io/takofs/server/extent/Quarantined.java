package io.takofs.server.extent;

/**
 * An extent that nobody owns and that somebody may still reach.
 *
 * @param grant number that no grant of it exceeds: those up to it are to be fenced
 * @param grantee client that may still write it; 0 when only late readers may be left
 * @param sinceMs time of the entry that put it there; 0 with a file
 * @param file whose writer may read back what it has not committed; 0 for none
 */
public record Quarantined(
    SlabRange range, long generation, long grant, long grantee, long sinceMs, long file) {
  /** One that nobody wants to read back. */
  public Quarantined(SlabRange range, long generation, long grant, long grantee, long sinceMs) {
    this(range, generation, grant, grantee, sinceMs, 0);
  }
}
