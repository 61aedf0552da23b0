package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.LogZone;

/**
 * The {@link Promise} of one member, and whom it has the member refuse. It is durable before it is
 * acted on; only the number that {@link #grantUnkept} takes may be forgotten.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class KeptPromise {
  private final LogZone zone;
  private final int logId;
  private final Crc32cScratch crc;
  private int server;
  private Promise promise = Promise.NONE;

  /**
   * @param server number of the member; 0 until it is known
   */
  KeptPromise(int server, LogZone zone, int logId, Crc32cScratch crc) {
    this.server = server;
    this.zone = zone;
    this.logId = logId;
    this.crc = crc;
  }

  int server() {
    return server;
  }

  void joined(int number) {
    server = number;
  }

  /** As {@link Promise#term}. */
  long term() {
    return promise.term();
  }

  /** As {@link Promise#candidate}. */
  int candidate() {
    return promise.candidate();
  }

  /** As {@link Promise#acceptedTerm}. */
  long acceptedTerm() {
    return promise.acceptedTerm();
  }

  /** As {@link Promise#epoch}. */
  long epoch() {
    return promise.epoch();
  }

  /** As {@link Promise#grant}. */
  long grant() {
    return promise.grant();
  }

  /** As {@link Promise#adoptedGrant}. */
  long adoptedGrant() {
    return promise.adoptedGrant();
  }

  /** As {@link Promise#committed}. */
  long committed() {
    return promise.committed();
  }

  /** As {@link Promise#counted}. */
  long counted() {
    return promise.counted();
  }

  /** Whether the member has promised {@code term} to itself. */
  boolean isOwn(long term) {
    return promise.term() == term && promise.candidate() == server;
  }

  // ---- changes ------------------------------------------------------------------------------

  /** The member has kept {@code found} in its memory. */
  void found(Promise found) {
    promise = found;
  }

  /** Makes what is kept unreadable, durably; {@link #beginAnew} follows. */
  void destroy() {
    Promise.destroy(zone);
  }

  /**
   * Keeps the promise of a member that has forgotten all. It counts when it is read again and given
   * to {@link #found}.
   *
   * @param grant all numbers of grants that earlier incarnations gave are lower or equal
   */
  void beginAnew(long epoch, long grant) {
    Promise.anew(epoch, Math.max(promise.grant(), grant)).write(zone, logId, crc);
  }

  /** Promises to let no leader of a term before {@code term} in. */
  void make(long term, int candidate, long epoch) {
    if (term > promise.term() || epoch > promise.epoch() || candidate != promise.candidate()) {
      keep(promise.promised(term, candidate, epoch));
    }
  }

  /** Gives another grant. */
  void grantNext() {
    keep(promise.granted());
  }

  /** Takes the next number of a grant, which is durable when {@link #adopt} is. */
  void grantUnkept() {
    promise = promise.granted();
  }

  /**
   * The log of the leader of the promised term is the member's; one write, so that a crash finds
   * the one or the other.
   *
   * @param firstSequence of the first segment that came under the last grant
   * @param whole whether nothing of what was there before remains
   */
  void adopt(long firstSequence, boolean whole, long epoch) {
    keep(promise.adopted(firstSequence, whole, epoch));
  }

  /** As {@link #adopt}, under the next grant. */
  void adoptOwn(long firstSequence) {
    keep(promise.granted().adopted(firstSequence, false, promise.epoch()));
  }

  /**
   * Keeps what is known of entries that the member does not have.
   *
   * @param committed entries up to here are committed
   * @param counted entries up to here may be: the leader counts them as written here
   * @param lastIndex the last entry that the member has
   */
  void know(long committed, long counted, long lastIndex) {
    Promise knowing = promise.knowing(committed, counted);
    if (knowing.knowsMoreThan(promise, lastIndex)) {
      keep(knowing);
    }
  }

  /** Nothing is acted on before it is durable. */
  private void keep(Promise next) {
    next.write(zone, logId, crc);
    promise = next;
  }

  // ---- refusals -----------------------------------------------------------------------------

  /**
   * @throws TakoException STALE_VERSION when the catalog was made again from a copy that is older
   *     than the configuration that was acted on here
   */
  void checkCopy(PrepareLog request) throws TakoException {
    if (GroupConfig.isCopiedBefore(epoch(), request.getEpoch(), request.getCopiedEpochsList())) {
      throw new TakoException(
          Status.STALE_VERSION,
          "member "
              + server
              + " has acted on configuration "
              + epoch()
              + " of the group, and the catalog was made again from a copy with configuration "
              + request.getCopiedEpochs(0));
    }
  }

  /**
   * @throws TakoException STALE_VERSION when a later configuration was acted on here
   */
  void checkEpoch(long epoch) throws TakoException {
    if (epoch < epoch()) {
      throw new TakoException(
          Status.STALE_VERSION,
          "member "
              + server
              + " has acted on configuration "
              + epoch()
              + " of the group, and the caller has "
              + epoch);
    }
  }

  /** STALE_TERM for who asked in {@code term}. */
  TakoException stale(long term) {
    return new TakoException(
        Status.STALE_TERM,
        "member "
            + server
            + " has promised term "
            + promise.term()
            + " to server "
            + promise.candidate()
            + ", and was asked in term "
            + term);
  }

  /** For messages. */
  @Override
  public String toString() {
    return promise.toString();
  }
}
