package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.store.Store;

/**
 * The state of a group at one of its members, whoever leads: the entries that were applied, the
 * sessions, and the counters of this server.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class GroupState {
  final Clock clock;
  final ServerSettings settings;
  final Counters counters = new Counters();
  final OperationTimes times = new OperationTimes();
  private final ClientTable clients;
  private GroupStorage storage;
  private StateMachine machine;
  private Journal journal;

  /**
   * @param storage null when there is none yet: see {@link #take}
   */
  public GroupState(Clock clock, ServerSettings settings, GroupStorage storage) {
    this.clock = clock;
    this.settings = settings;
    this.clients = new ClientTable(clock);
    if (storage != null) {
      take(storage);
    }
  }

  /** The state is that of {@code opened} from now on, instead of any other. */
  public void take(GroupStorage opened) {
    storage = opened;
    machine = new StateMachine(opened.store());
    journal =
        new Journal(
            clock, opened.log(), opened.store(), machine, counters, settings.checkpointBytes());
  }

  /**
   * Goes back to the last checkpoint, and applies what was committed since.
   *
   * @return how many entries that were
   * @throws TakoException when the checkpoint cannot be read or an entry not be applied
   */
  public int reopen() throws TakoException {
    take(storage.reopened());
    return journal.recover();
  }

  /** There is no state from now on, until {@link #take}: nothing of it is used any more. */
  public void giveUp() {
    storage = null;
    machine = null;
    journal = null;
  }

  GroupStorage storage() {
    return storage;
  }

  /** Holds the last checkpoint; null when there is no state. */
  public Store store() {
    return storage == null ? null : storage.store();
  }

  public StateMachine machine() {
    return machine;
  }

  public Journal journal() {
    return journal;
  }

  /** The clients that are connected here, or were. */
  public ClientTable clients() {
    return clients;
  }
}
