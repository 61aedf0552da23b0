package io.takofs.server.log;

/**
 * The catalog, as a member of a group knows it.
 *
 * <p>Thread rule: any thread; nothing waits.
 */
public interface GroupCatalog {
  /** The configuration as one read of the catalog gave it, however long ago. */
  GroupConfig read();

  /**
   * A leader has committed an entry in configuration {@code epoch}, which makes it active: only
   * then may the catalog go on to the next one.
   */
  void activate(long epoch);
}
