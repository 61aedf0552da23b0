package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclStatus;
import io.takofs.proto.GetAcl;
import io.takofs.proto.Request;
import io.takofs.proto.SetAcl;
import io.takofs.proto.SetAcl.Change;
import java.util.List;

/**
 * ACLs of files and directories, which their owner and the superuser may change. An ACL that cannot
 * be is refused as INVALID_ARGUMENT; the mask is worked out unless it is among the entries given.
 *
 * <p>Thread rule: any thread.
 */
public final class Acls {
  private final Session session;

  Acls(Session session) {
    this.session = session;
  }

  /** Adds entries, or replaces those with the same scope, type and name. */
  public void modify(String path, List<AclEntry> entries) throws TakoException {
    set("modifyAclEntries", path, Change.MODIFY, entries);
  }

  /** Removes the entries with these scopes, types and names. */
  public void removeEntries(String path, List<AclEntry> entries) throws TakoException {
    set("removeAclEntries", path, Change.REMOVE_ENTRIES, entries);
  }

  /** Removes what new entries of a directory would get. */
  public void removeDefault(String path) throws TakoException {
    set("removeDefaultAcl", path, Change.REMOVE_DEFAULT, List.of());
  }

  /** Removes all but what the permission says. */
  public void remove(String path) throws TakoException {
    set("removeAcl", path, Change.REMOVE, List.of());
  }

  /** Replaces the access entries, the default ones, or both: those of which some are given. */
  public void replace(String path, List<AclEntry> entries) throws TakoException {
    set("setAcl", path, Change.REPLACE, entries);
  }

  private void set(String operation, String path, Change change, List<AclEntry> entries)
      throws TakoException {
    for (AclEntry entry : entries) {
      UnicodeText.check(entry.getName(), operation + " " + path + ": the name in an entry");
    }
    SetAcl.Builder acl = SetAcl.newBuilder().setPath(path).setChange(change).addAllEntries(entries);
    session.call(operation, path, Request.newBuilder().setSetAcl(acl));
  }

  /** Owner, group and permission, and what the ACL says beyond them. */
  public AclStatus get(String path) throws TakoException {
    Request.Builder request = Request.newBuilder().setGetAcl(GetAcl.newBuilder().setPath(path));
    return session.call("getAclStatus", path, request).getAcl();
  }
}
