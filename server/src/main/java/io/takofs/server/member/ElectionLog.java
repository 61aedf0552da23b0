package io.takofs.server.member;

import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogMember.Role;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log of the process who leads, and when this member stands for election.
 *
 * <p>Thread rule: one thread.
 */
final class ElectionLog {
  private static final Logger LOG = LoggerFactory.getLogger(ElectionLog.class);

  private long stoodIn; // term
  private long ledIn; // term
  private int leader;
  private String shortage = ""; // that was said last

  /** Looks at {@code member} after each of its steps. */
  void look(LogMember member) {
    Role role = member.role();
    long term = member.term();
    int now = member.leader();
    String lacks = member.shortage();
    if (!lacks.isEmpty() && !lacks.equals(shortage)) {
      LOG.warn("this server cannot lead: {}; start the other members", lacks);
    }
    if (!lacks.isEmpty() || now != 0) {
      shortage = lacks; // what was lacked before a leader was known may be said again
    }
    if (role == Role.ASKING && leader != 0) {
      LOG.info("server {} is missed as the leader", leader);
      leader = 0;
    } else if (role == Role.LEADING && term != ledIn) {
      LOG.info("this server leads the group in term {}", term);
      ledIn = term;
      leader = now;
    } else if (role != Role.FOLLOWER && role != Role.ASKING && term != stoodIn) {
      LOG.info("this server stands for election in term {}", term);
      stoodIn = term;
      leader = 0;
    } else if (role == Role.FOLLOWER && now != leader && now != 0) {
      LOG.info("server {} leads the group", now);
      leader = now;
    }
  }
}
