package io.takofs.server.namespace.operation;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.AclStatus;
import io.takofs.proto.Caller;
import io.takofs.proto.CheckAccess;
import io.takofs.proto.GetAcl;
import io.takofs.proto.GetXAttrs;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.proto.XAttr;
import io.takofs.proto.XAttrList;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;

/** Requests about ACLs, access and extended attributes that change nothing. */
public final class AttributeQueries {
  private AttributeQueries() {}

  public static Reply getAcl(State state, Caller caller, GetAcl request) throws TakoException {
    Inode inode = state.tree.lookup(FilePath.parse(request.getPath()), caller).inode();
    return Reply.newBuilder()
        .setAcl(
            AclStatus.newBuilder()
                .setOwner(inode.owner)
                .setGroup(inode.group)
                .setPermission(inode.permission)
                .addAllEntries(inode.acl()))
        .build();
  }

  public static Reply checkAccess(State state, Caller caller, CheckAccess request)
      throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    Inode inode = state.tree.lookup(path, caller).inode();
    Permissions.require(caller, inode, request.getAccess() & 7, path.toString());
    return Replies.done();
  }

  public static Reply getXAttrs(State state, Caller caller, GetXAttrs request)
      throws TakoException {
    for (XAttr wanted : request.getWantedList()) {
      XAttrOperation.checkNamespace(caller, wanted);
    }
    FilePath path = FilePath.parse(request.getPath());
    Inode inode = state.tree.lookup(path, caller).inode();
    if (!request.getNamesOnly()) {
      Permissions.require(caller, inode, Permissions.READ, path.toString());
    }
    XAttrList.Builder page = XAttrList.newBuilder();
    if (request.getWantedCount() > 0) {
      addWanted(state, inode, request, page);
    } else if (inode.hasXAttrs) {
      addAll(state, caller, inode, request, page);
    }
    return Reply.newBuilder().setXattrs(page).build();
  }

  private static void addWanted(State state, Inode inode, GetXAttrs request, XAttrList.Builder page)
      throws TakoException {
    int room = Limits.REPLY_LIST_MAX;
    for (XAttr wanted : request.getWantedList()) {
      byte[] value =
          inode.hasXAttrs
              ? state.xattrs.get(inode.id, wanted.getNamespace(), wanted.getName())
              : null;
      if (value == null) {
        throw new TakoException(
            Status.INVALID_ARGUMENT, "At least one of the attributes provided was not found.");
      }
      XAttr found = withValue(wanted, value);
      room -= found.getSerializedSize() + Long.BYTES;
      if (room < 0) {
        page.setMore(true);
        return;
      }
      page.addXattrs(found);
    }
  }

  private static void addAll(
      State state, Caller caller, Inode inode, GetXAttrs request, XAttrList.Builder page) {
    int[] room = {Limits.REPLY_LIST_MAX};
    state.xattrs.scan(
        inode.id,
        request.getAfter(),
        name -> {
          if (!XAttrOperation.isVisible(caller, name)) {
            return true;
          }
          XAttr xattr =
              request.getNamesOnly()
                  ? name
                  : withValue(
                      name, state.xattrs.get(inode.id, name.getNamespace(), name.getName()));
          room[0] -= xattr.getSerializedSize() + Long.BYTES;
          if (room[0] < 0) {
            page.setMore(true);
            return false;
          }
          page.addXattrs(xattr);
          return true;
        });
  }

  private static XAttr withValue(XAttr name, byte[] value) {
    return name.toBuilder().setValue(ByteString.copyFrom(value)).build();
  }
}
