/** Ordered, off-heap, checkpointed storage of the state that the log feeds. */
package io.takofs.server.store;
