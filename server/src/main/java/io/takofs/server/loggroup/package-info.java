/**
 * The parts of one log group around its log, store and state machine: the journal, sessions, safe
 * mode, housekeeping and reports. It registers no memory and accepts no connection.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
package io.takofs.server.loggroup;
