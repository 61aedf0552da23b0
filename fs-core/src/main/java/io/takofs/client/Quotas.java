package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.GetQuota;
import io.takofs.proto.QuotaStatus;
import io.takofs.proto.Request;
import io.takofs.proto.SetQuota;

/**
 * Limits of what is at and below directories: names (files and directories, its own included) and
 * space (bytes, each file's times its replication). A change beyond a limit fails with
 * QUOTA_EXCEEDED.
 *
 * <p>Thread rule: any thread.
 */
public final class Quotas {
  /** No limit. */
  public static final long NONE = -1;

  private final Session session;

  Quotas(Session session) {
    this.session = session;
  }

  /** Limits names, or ends that with {@link #NONE}; the superuser may. */
  public void setNames(String path, long names) throws TakoException {
    set(SetQuota.newBuilder().setPath(path).setNames(names));
  }

  /** Limits space, in bytes, or ends that with {@link #NONE}; the superuser may. */
  public void setSpace(String path, long bytes) throws TakoException {
    set(SetQuota.newBuilder().setPath(path).setSpace(bytes));
  }

  /** Sets both limits at once. */
  public void set(String path, long names, long bytes) throws TakoException {
    set(SetQuota.newBuilder().setPath(path).setNames(names).setSpace(bytes));
  }

  private void set(SetQuota.Builder quota) throws TakoException {
    session.call("setQuota", quota.getPath(), Request.newBuilder().setSetQuota(quota));
  }

  /** The limits of {@code path} itself and what counts against them; nothing without one. */
  public QuotaStatus get(String path) throws TakoException {
    Request.Builder request = Request.newBuilder().setGetQuota(GetQuota.newBuilder().setPath(path));
    return session.call("getQuota", path, request).getQuota();
  }
}
