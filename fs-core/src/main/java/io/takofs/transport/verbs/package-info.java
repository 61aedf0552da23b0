/**
 * The verbs transport: reliable-connected queue pairs of an RDMA device through libibverbs.
 *
 * <p>The control path ({@link io.takofs.transport.verbs.VerbsControl}) opens devices, registers
 * memory and makes connections, through DiSNI. The data path posts and polls on the native objects
 * that the control path made.
 */
package io.takofs.transport.verbs;
