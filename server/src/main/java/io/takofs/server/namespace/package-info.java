/**
 * The file system's state machine: a pure function of the store and the entries applied to it.
 * {@link io.takofs.server.namespace.StateMachine} is the entry. The records of the store are in
 * {@code state}; each family of operations has a class of its own in {@code operation}.
 *
 * <p>Owner thread: whoever holds the data server's lock. Nothing here locks, waits, looks at a
 * clock or touches file data.
 */
package io.takofs.server.namespace;
