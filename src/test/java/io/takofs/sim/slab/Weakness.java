package io.takofs.sim.slab;

/**
 * A rule that somebody breaks, to see that the simulation finds it; as in the models of slabs and
 * of leases.
 */
enum Weakness {
  /** A writer commits when one replica has its bytes. */
  COMMIT_EARLY,
  /** The group takes commits of grants that have ended. */
  STALE_COMMIT,
  /** A slab that is closed does not end its grants. */
  SEAL_FORGOT,
  /** A replica is made while the slab is open: what is committed meanwhile is missed. */
  COPY_OPEN,
  /** The bytes that were copied are not compared with the records. */
  NO_VERIFY,
  /** An extent is free when some of its replicas have fenced the last writer. */
  FENCE_SOME,
  /** A server that starts again has forgotten its fences. */
  FENCE_FORGOT,
  /** A copy that left the set joins again under its old lease number. */
  NO_JOIN_FENCE,
  /** A return names no grantees: a slab is lent again while they may still write there. */
  RETURN_UNNAMED,
  /** A replica that was replaced is taken back. */
  STALE_RETURN,
  /** A replica that is suspected is dropped, and no other comes for it. */
  SHRINK,
  /** An extent is free while readers look at it. */
  FREE_BEFORE_READERS,
  /** A writer does not ask on a new connection whether its grant lives. */
  UNPROVED_GRANT
}
