package io.takofs.server.catalog;

/**
 * A change of one value of a catalog.
 *
 * @param kind what to do
 * @param key of the value
 * @param version that is expected
 * @param ttlMs time to live; 0 for ever
 * @param bytes the value
 */
public record CatalogCommand(Kind kind, String key, long version, long ttlMs, byte[] bytes) {
  private static final byte[] NONE = new byte[0];

  /** The kind of a change. */
  public enum Kind {
    /** Sets the value. */
    SET,
    /** Begins its time to live anew. */
    RENEW,
    /** Removes it. */
    REMOVE,
    /** Removes it if it was not renewed in time. */
    EXPIRE,
    /** Takes the values of a lost catalog from a copy; this one must be empty. */
    RESTORE
  }

  /** A change without a value. */
  public static CatalogCommand of(Kind kind, String key, long version) {
    return new CatalogCommand(kind, key, version, 0, NONE);
  }

  /** Takes the values of {@code copy}. */
  public static CatalogCommand restore(CatalogState copy) {
    return new CatalogCommand(Kind.RESTORE, "", ConfigStore.ABSENT, 0, copy.encode());
  }
}
