package io.takofs.server.log;

/** A catalog whose configuration of the group nobody changes. */
record FixedCatalog(GroupConfig read) implements GroupCatalog {
  @Override
  public void activate(long epoch) {
    throw new UnsupportedOperationException("nobody changes configuration " + epoch);
  }
}
