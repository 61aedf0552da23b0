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
record CatalogCommand(Kind kind, String key, long version, long ttlMs, byte[] bytes) {
  private static final byte[] NONE = new byte[0];

  enum Kind {
    SET,
    RENEW,
    REMOVE,
    EXPIRE
  }

  static CatalogCommand of(Kind kind, String key, long version) {
    return new CatalogCommand(kind, key, version, 0, NONE);
  }
}
