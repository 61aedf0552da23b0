/**
 * The transport between processes of one host: each maps what the other registered, and the
 * initiator's CPU does the whole operation there, in native code.
 *
 * <p>What is shared, each a file in the directory of the process that owns it: the registered
 * regions and, for each protection domain, the table of their keys ({@code shm_export}); for each
 * queue pair its inbox, where the peer puts immediates on the receives it finds posted; for each
 * completion queue its doorbell, where all peers say which inbox has news and wake the sleeper. A
 * Unix domain socket carries the handshake, and its end tells that the peer is gone.
 *
 * <p>The initiator counts nothing before it has looked, after its stores, whether the target has
 * ended the pair ({@code shm_inbox.revoked}); so the target knows at once what can count, however
 * slow the peer is. For a target that died, the next process in the same parent directory does it.
 *
 * <p>Whatever a peer can write is read as untrusted: keys, credits, sequences and ready bits are
 * checked or masked in {@code queue_pair.c} and {@code completion_queue.c} before they are used.
 * Files named by a peer are mapped only if they belong to the peer's user.
 *
 * <p>Entry class: {@link io.takofs.transport.shm.ShmTransport}.
 */
package io.takofs.transport.shm;
