/**
 * Space of the data zone: which units are free, and what becomes of an extent between being granted
 * and being free again.
 *
 * <p>Owner thread: the state machine's.
 */
package io.takofs.server.extent;
