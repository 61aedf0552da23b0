package io.takofs.server.loggroup;

import io.takofs.server.log.Log;
import io.takofs.server.store.Store;

/**
 * The storage of one log group.
 *
 * @param store holds the last checkpoint
 * @param log holds the entries after it; not yet polled
 * @param epoch incarnation of the server that opened them, from 1
 */
public record GroupStorage(Store store, Log log, long epoch) {}
