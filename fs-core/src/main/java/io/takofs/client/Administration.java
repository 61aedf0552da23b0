package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.FollowerInquiry;
import io.takofs.client.internal.session.Session;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ForceRepair;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Leases;
import io.takofs.proto.ListLeases;
import io.takofs.proto.MoveLeader;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ReplaceMember;
import io.takofs.proto.Request;
import io.takofs.proto.SetSafeMode;
import java.util.Optional;

/**
 * Calls by which people look after a server.
 *
 * <p>Thread rule: any thread.
 */
public final class Administration {
  /** The group that has the namespace. */
  private static final int GROUP = 1;

  private final Session session;
  private final TakoConfig config;

  Administration(Session session, TakoConfig config) {
    this.session = session;
    this.config = config;
  }

  /**
   * Whether the server is in safe mode: it serves readers, and refuses every change with {@code
   * SAFE_MODE}.
   */
  public boolean isInSafeMode() throws TakoException {
    return safeMode(SetSafeMode.newBuilder());
  }

  /**
   * Enters or leaves safe mode, which a restart of the server leaves too.
   *
   * @throws TakoException PERMISSION_DENIED unless {@link TakoClient#isSuperuser}
   */
  public void setSafeMode(boolean on) throws TakoException {
    safeMode(SetSafeMode.newBuilder().setOn(on));
  }

  private boolean safeMode(SetSafeMode.Builder change) throws TakoException {
    return session.call("safe mode", "", Request.newBuilder().setSetSafeMode(change)).getSafeMode();
  }

  /**
   * Has lost copies made again although so many servers are silent that this waits for them: it
   * goes on without those that are silent now until they answer, or the server with the namespace
   * is started again.
   *
   * @return what is being repaired, and which servers that goes without
   * @throws TakoException PERMISSION_DENIED unless {@link TakoClient#isSuperuser}
   */
  public RepairStatus forceRepair() throws TakoException {
    return session
        .call("repair", "", Request.newBuilder().setForceRepair(ForceRepair.getDefaultInstance()))
        .getRepair();
  }

  /**
   * A page of the files open for writing: all of them for a superuser, else those of this client's
   * user.
   *
   * @param after {@code next_after} of the page before; 0 for the first
   */
  public Leases leases(long after) throws TakoException {
    return session
        .call(
            "leases",
            "",
            Request.newBuilder().setListLeases(ListLeases.newBuilder().setAfterFileId(after)))
        .getLeases();
  }

  /**
   * Has another member of the group lead the namespace soon.
   *
   * @param server that shall; 0 for any that can
   * @throws TakoException PERMISSION_DENIED for all but superusers; INVALID_ARGUMENT when the
   *     server is no member; BUSY when it does not get the log at the moment; UNSUPPORTED where the
   *     namespace is on one server
   */
  public void moveLeader(int server) throws TakoException {
    MoveLeader move = MoveLeader.newBuilder().setGroup(GROUP).setServer(server).build();
    session.call("move the leader", "", Request.newBuilder().setMoveLeader(move));
  }

  /**
   * Has another server take the place of a member of the group; it learns the log first.
   *
   * @throws TakoException as of {@link #moveLeader}
   */
  public void replaceMember(int leaves, int comes) throws TakoException {
    ReplaceMember replace =
        ReplaceMember.newBuilder().setGroup(GROUP).setLeaves(leaves).setComes(comes).build();
    session.call("replace a member", "", Request.newBuilder().setReplaceMember(replace));
  }

  /**
   * The whole cluster, as far as the server that has the session knows it.
   *
   * @throws TakoException UNAVAILABLE when the server does not answer in time
   */
  public ClusterStatus clusterStatus() throws TakoException {
    return session
        .call(
            "cluster status",
            "",
            Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()))
        .getClusterStatus();
  }

  /**
   * The whole cluster, as far as a server knows it that does not have the namespace: for when
   * another call has failed because the one that has it does not answer. Empty when no such server
   * has answered this client.
   *
   * @throws TakoException when it does not answer any more within {@code
   *     fs.tako.client.connect.timeout}
   */
  public Optional<ClusterStatus> clusterStatusOfFollower() throws TakoException {
    String follower = session.follower();
    if (follower == null) {
      return Optional.empty();
    }
    Request request =
        Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();
    return Optional.of(FollowerInquiry.ask(follower, config, request).getClusterStatus());
  }
}
