/**
 * The transport SPI: reliable-connected queue pairs in the vocabulary of libibverbs, and nothing
 * that libibverbs could not do.
 *
 * <p>What upper layers may rely on, and no more: a successful completion means the bytes are placed
 * in the peer's memory; completions of one queue pair come in post order; the first failed or torn
 * operation moves the pair to {@link io.takofs.transport.QueuePair.State#ERROR}, after which every
 * outstanding post completes exactly once with {@link
 * io.takofs.transport.CompletionStatus#FLUSHED}. Nothing is said of the order in which the bytes
 * inside one write land, nor of persistence, nor of atomicity against the peer's CPU.
 *
 * <p>Thread rule: posts to one queue pair come from one thread at a time; a completion queue is
 * polled by one thread at a time; different objects may be used by different threads.
 */
package io.takofs.transport;
