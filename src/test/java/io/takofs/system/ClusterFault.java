package io.takofs.system;

/**
 * Something that befalls one server of a cluster of three, and is over when it is healed. The two
 * others can serve meanwhile.
 *
 * <p>Thread rule: one thread.
 */
interface ClusterFault {
  /** What happens, and to whom, in words. */
  String name();

  /** Whether another server has to lead afterwards. */
  boolean endsLead();

  /** Lets it happen. */
  void inflict() throws Exception;

  /** Makes everything run again; redundancy comes back later. */
  void heal() throws Exception;
}
