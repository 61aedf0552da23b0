/**
 * The simulation: virtual time, a transport that behaves like a hostile but correct NIC, processes
 * that crash, all in one thread and all from one seed.
 *
 * <p>Blocking code runs unchanged: whoever waits, waits by running the scheduler.
 */
package io.takofs.sim;
