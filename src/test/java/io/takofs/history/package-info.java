/**
 * Histories of what clients did with a namespace: how they are recorded and read, and whether an
 * order of the calls explains every result. {@link io.takofs.history.HistoryCheck} answers that;
 * src/test/linearizability has another program that does, and what histories are refused.
 */
package io.takofs.history;
