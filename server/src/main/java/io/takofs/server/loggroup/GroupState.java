package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.StateMachine;

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

  public GroupState(Clock clock, ServerSettings settings, GroupStorage storage) {
    this.clock = clock;
    this.settings = settings;
    this.clients = new ClientTable(clock);
    take(storage);
  }

  private void take(GroupStorage opened) {
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

  GroupStorage storage() {
    return storage;
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
