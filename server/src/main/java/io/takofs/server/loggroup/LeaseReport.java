package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.proto.Caller;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.Leases;
import io.takofs.proto.ListLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.OpenLease;
import io.takofs.server.namespace.state.SessionInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Lists the writers of open files, and for how long they write. The path and the time of the open
 * are kept here only: no record has them, because a rename above the file would make it untrue.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class LeaseReport {
  /** Tag and length of one in a reply. */
  private static final int FRAME_BYTES = 4;

  private static final int LEASES_MAX = 256;

  private final Clock clock;
  private final StateMachine machine;
  private final ClientTable sessions;
  private final Map<Long, Opened> opened = new HashMap<>();
  private final long startedNs;

  public LeaseReport(Clock clock, StateMachine machine, ClientTable sessions) {
    this.clock = clock;
    this.machine = machine;
    this.sessions = sessions;
    this.startedNs = clock.nanoTime();
  }

  private record Opened(String path, long epoch, long sinceNs) {}

  /** {@code request} was executed. */
  public void executed(Request request, Reply reply) {
    if (reply.hasOpenedFile()) {
      String path =
          request.hasCreate() ? request.getCreate().getPath() : request.getAppend().getPath();
      opened.put(
          reply.getOpenedFile().getFile().getId(),
          new Opened(path, reply.getOpenedFile().getLeaseEpoch(), clock.nanoTime()));
    }
  }

  public void ended(OpenLease lease) {
    Opened known = opened.get(lease.fileId());
    if (known != null && known.epoch == lease.epoch()) {
      opened.remove(lease.fileId());
    }
  }

  /** A page of those that {@code caller} may see. */
  public Reply list(Caller caller, ListLeases request) {
    Leases.Builder page = Leases.newBuilder();
    int limit = request.getLimit() <= 0 ? LEASES_MAX : Math.min(request.getLimit(), LEASES_MAX);
    // A caller who may see few of many goes through them page by page, too.
    List<OpenLease> candidates = machine.leases(request.getAfterFileId(), LEASES_MAX);
    long last = candidates.size() < LEASES_MAX ? 0 : candidates.get(LEASES_MAX - 1).fileId();
    long before = request.getAfterFileId();
    int bytes = 0;
    for (OpenLease lease : candidates) {
      LeaseInfo info = info(lease);
      if (!caller.getSuperuser() && !info.getUser().equals(caller.getUser())) {
        before = lease.fileId();
        continue;
      }
      // One alone always fits: Limits.PATH_MAX and four names are much less.
      bytes += info.getSerializedSize() + FRAME_BYTES;
      if (page.getLeasesCount() == limit || bytes > Limits.REPLY_LIST_MAX) {
        last = before;
        break;
      }
      page.addLeases(info);
      before = lease.fileId();
    }
    return Reply.newBuilder().setLeases(page.setNextAfter(last)).build();
  }

  private LeaseInfo info(OpenLease lease) {
    LeaseInfo.Builder info =
        LeaseInfo.newBuilder()
            .setFileId(lease.fileId())
            .setClientId(lease.clientId())
            .setName(lease.name());
    SessionInfo session = machine.session(lease.clientId());
    if (session != null) {
      info.setUser(session.user());
    }
    ClientState client = sessions.find(lease.clientId());
    if (client != null) {
      info.setClientName(client.clientName).setSilentMs(millisSince(client.lastHeardNs));
    }
    Opened known = opened.get(lease.fileId());
    return known != null && known.epoch == lease.epoch()
        ? info.setPath(known.path).setOpenMs(millisSince(known.sinceNs)).build()
        : info.setOpenMs(millisSince(startedNs)).build();
  }

  private long millisSince(long ns) {
    return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - ns);
  }
}
