package io.takofs.server.loggroup;

import io.takofs.base.TakoException;
import io.takofs.server.log.Log;
import io.takofs.server.store.Store;

/**
 * The storage of one log group.
 *
 * @param store holds the last checkpoint
 * @param log holds the entries after it; not yet polled
 * @param epoch incarnation of the server that opened them, from 1
 * @param opening opens the store again at its last checkpoint, from which the log delivers anew
 */
public record GroupStorage(Store store, Log log, long epoch, Opening opening) {
  /** Storage whose log never has other entries than those that were applied. */
  public GroupStorage(Store store, Log log, long epoch) {
    this(
        store,
        log,
        epoch,
        () -> {
          throw new IllegalStateException("the log of a single member is never another's");
        });
  }

  /** Opens a store. */
  @FunctionalInterface
  public interface Opening {
    Store open() throws TakoException;
  }

  GroupStorage reopened() throws TakoException {
    return new GroupStorage(opening.open(), log, epoch, opening);
  }
}
