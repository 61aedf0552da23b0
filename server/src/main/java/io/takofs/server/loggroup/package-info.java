/**
 * What keeps one log, its store and its state machine in step and at work: the journal, sessions,
 * safe mode, housekeeping and reports. It registers no memory and accepts no connection.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
package io.takofs.server.loggroup;
