package io.takofs.sim.log;

import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.ReplicatedLog;
import io.takofs.server.member.MemberState;

/** The state of a member that takes any checkpoint over which it once needed. */
final class UncheckedState extends MemberState {
  UncheckedState(
      LogReplica replica, ReplicatedLog log, LogMember member, Runnable onGiveUp, boolean has) {
    super(replica, log, member, onGiveUp, has);
  }

  @Override
  protected void check(long index, boolean hadState) {}
}
