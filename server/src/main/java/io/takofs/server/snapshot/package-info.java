/**
 * The takeover of a checkpoint by a member of a group that lags too far: {@link
 * io.takofs.server.snapshot.SnapshotSource} holds it at the member that has it, {@link
 * io.takofs.server.snapshot.SnapshotReader} reads its pages one-sided. Neither has a thread or a
 * clock of its own.
 */
package io.takofs.server.snapshot;
