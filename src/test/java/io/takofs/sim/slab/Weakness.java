package io.takofs.sim.slab;

/**
 * A rule that somebody breaks, to see that the simulation finds it: each has the name of the run
 * that removes the same rule from the models of slabs and of leases.
 */
enum Weakness {
  /** A writer commits when one replica has its bytes. */
  COMMIT_EARLY,
  /** The group takes commits of grants that have ended. */
  STALE_COMMIT,
  /** A writer sends other bytes for a cell that it has sent under the same grant. */
  REWRITE,
  /** Extents of slabs that are closed are granted. */
  GRANT_OPEN,
  /** A slab that is closed does not end its grants; they go on when it is opened again. */
  SEAL_FORGOT,
  /** Nor does it end them for commits: writers commit to it while it is closed. */
  REPAIR_OPEN,
  /** A replica is made while the slab is open: what is committed meanwhile is missed. */
  COPY_OPEN,
  /** The bytes that were copied are not compared with the records. */
  NO_VERIFY,
  /** An extent is free without a fence. */
  NO_FENCE,
  /** An extent is free when some of its replicas have fenced the last writer. */
  FENCE_SOME,
  /** A server that does not answer needs no fence, though it comes back. */
  FENCE_LOST,
  /** A fence names the generation of the record, and not the number of the grant. */
  FENCE_BY_GENERATION,
  /** A server that starts again has forgotten its fences. */
  FENCE_FORGOT,
  /** A record is appended to in place while its last grantee may still write. */
  APPEND_UNFENCED,
  /** A copy that left the set joins again under its old lease number. */
  NO_JOIN_FENCE,
  /** A server that starts again gives numbers of leases that are over a second time. */
  LEASE_REUSED,
  /** A return that is late ends the present lease. */
  DROP_LATE,
  /** A return names no grantees: a slab is lent again while they may still write there. */
  RETURN_UNNAMED,
  /** A server lends a slab that was returned without waiting for those that the return names. */
  RETURN_UNFENCED,
  /** What a server holds is compared with what is known while a call for a lease is under way. */
  LIST_EARLY,
  /** A replica that was replaced is taken back. */
  STALE_RETURN,
  /** A replica that is suspected is dropped, and no other comes for it. */
  SHRINK,
  /** An extent is free while readers look at it. */
  READER_FORGOT,
  /** A reader asks whether the bytes are still there before it locks them. */
  READER_UNLOCKED,
  /** That nobody reads an extent was answered before it was deleted. */
  OLD_ANSWER,
  /** A writer does not ask on a new connection whether its grant lives. */
  PROVE_SKIPPED
}
