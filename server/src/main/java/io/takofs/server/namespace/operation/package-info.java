/**
 * The operations of the namespace: each family has a class that checks a request, changes the state
 * and makes the reply.
 *
 * <p>Owner thread: whoever holds the data server's lock.
 */
package io.takofs.server.namespace.operation;
