package io.takofs.server.namespace.state;

/**
 * The operation would change a quota that is still being counted. It changes nothing, and is to be
 * tried again. No checked exception, because whatever asks who is charged may meet it.
 */
public final class CountInProgress extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Quota quota;

  public CountInProgress(Quota quota) {
    super(
        "the quota of directory %016x is being counted".formatted(quota.id()), null, false, false);
    this.quota = quota;
  }

  /** The one being counted. */
  public Quota quota() {
    return quota;
  }
}
