package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ForceRepair;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Leases;
import io.takofs.proto.ListLeases;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Request;
import io.takofs.proto.SetSafeMode;

/**
 * Calls by which people look after a server.
 *
 * <p>Thread rule: any thread.
 */
public final class Administration {
  private final Session session;

  Administration(Session session) {
    this.session = session;
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
}
