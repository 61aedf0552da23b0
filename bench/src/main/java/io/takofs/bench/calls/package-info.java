/**
 * Ways of calling and of moving file data side by side: the same messages, codec, batches and
 * handler in {@code native/bench}, so that only the way differs.
 */
package io.takofs.bench.calls;
