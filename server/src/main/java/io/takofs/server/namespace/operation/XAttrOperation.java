package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.proto.Caller;
import io.takofs.proto.RemoveXAttr;
import io.takofs.proto.Reply;
import io.takofs.proto.SetXAttr;
import io.takofs.proto.Status;
import io.takofs.proto.XAttr;
import io.takofs.proto.XAttrNamespace;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import io.takofs.server.namespace.state.XAttrTable;

/** Setting and removing extended attributes, and who may do what with them, as HDFS has it. */
public final class XAttrOperation {
  /** Attributes of one inode. */
  public static final int COUNT_MAX = 32;

  /** Name, bytes of UTF-8. */
  static final int NAME_MAX = 255;

  /** Name and value, bytes, HDFS's default: beside the longest path it fits a request. */
  public static final int SIZE_MAX = 16384;

  private static final String UNREADABLE = "hdfs.unreadable.by.superuser";

  private XAttrOperation() {}

  public static Reply set(Context context, SetXAttr request) throws TakoException {
    XAttr xattr = request.getXattr();
    DirectoryEntry entry = changing(context, request.getPath(), xattr);
    Inode inode = entry.inode();
    XAttrTable xattrs = context.state().xattrs;
    checkSize(xattr);
    if (isUnreadable(xattr)) {
      checkUnreadable(inode, xattr);
    }
    boolean exists = xattrs.get(inode.id, xattr.getNamespace(), xattr.getName()) != null;
    if (exists && !request.getReplace()) {
      throw invalid(
          "XAttr: %s already exists. The REPLACE flag must be specified."
              .formatted(prefixed(xattr)));
    }
    if (!exists) {
      if (!request.getCreate()) {
        throw invalid(
            "XAttr: %s does not exist. The CREATE flag must be specified."
                .formatted(prefixed(xattr)));
      }
      checkCount(xattrs, inode.id);
    }
    xattrs.put(context.tx(), inode.id, xattr);
    inode.hasXAttrs = true;
    context.state().tree.put(context.tx(), entry);
    return Replies.done();
  }

  public static Reply remove(Context context, RemoveXAttr request) throws TakoException {
    XAttr xattr = request.getXattr();
    DirectoryEntry entry = changing(context, request.getPath(), xattr);
    Inode inode = entry.inode();
    XAttrTable xattrs = context.state().xattrs;
    if (isUnreadable(xattr)) {
      throw denied("The xattr '%s' can not be deleted.".formatted(prefixed(xattr)));
    }
    if (xattrs.get(inode.id, xattr.getNamespace(), xattr.getName()) == null) {
      throw invalid("No matching attributes found for remove operation");
    }
    inode.hasXAttrs = xattrs.count(inode.id, 2) > 1;
    xattrs.remove(context.tx(), inode.id, xattr);
    context.state().tree.put(context.tx(), entry);
    return Replies.done();
  }

  private static DirectoryEntry changing(Context context, String name, XAttr xattr)
      throws TakoException {
    Caller caller = context.caller();
    checkNamespace(caller, xattr);
    checkName(xattr);
    FilePath path = FilePath.parse(name);
    DirectoryEntry entry = context.state().tree.lookup(path, caller);
    if (xattr.getNamespace() != XAttrNamespace.XATTR_TRUSTED) {
      // HDFS's code lets everybody set the one of the security namespace who can name the file; its
      // documentation wants the file's permissions. It cannot be taken back, so they hold here.
      Permissions.requireXAttrChange(caller, entry.inode(), path.toString());
    }
    return entry;
  }

  private static void checkUnreadable(Inode inode, XAttr xattr) throws TakoException {
    if (!xattr.getValue().isEmpty()) {
      throw denied("Values are not allowed for the xattr " + prefixed(xattr));
    }
    if (inode.directory) {
      throw invalid("Can only set '%s' on a file.".formatted(prefixed(xattr)));
    }
  }

  /** Checks a request, independently of its path. */
  static void checkNamespace(Caller caller, XAttr xattr) throws TakoException {
    if (!isVisible(caller, xattr)) {
      throw denied("User doesn't have permission for xattr: " + prefixed(xattr));
    }
  }

  static boolean isVisible(Caller caller, XAttr xattr) {
    return switch (xattr.getNamespace()) {
      case XATTR_USER -> true;
      case XATTR_TRUSTED -> caller.getSuperuser();
      case XATTR_SECURITY -> isUnreadable(xattr);
      case UNRECOGNIZED -> false;
    };
  }

  /** Whether the superuser may not read the data of {@code inode}, once and for all. */
  private static boolean isUnreadable(State state, Inode inode) {
    return inode.hasXAttrs
        && state.xattrs.get(inode.id, XAttrNamespace.XATTR_SECURITY, UNREADABLE) != null;
  }

  /** {@code path} is for the message. */
  static void requireReadable(State state, Caller caller, Inode inode, String path)
      throws TakoException {
    if (caller.getSuperuser() && isUnreadable(state, inode)) {
      throw denied("Access is denied: no superuser may read " + path);
    }
  }

  private static boolean isUnreadable(XAttr xattr) {
    return xattr.getNamespace() == XAttrNamespace.XATTR_SECURITY
        && xattr.getName().equals(UNREADABLE);
  }

  private static void checkName(XAttr xattr) throws TakoException {
    String name = xattr.getName();
    if (name.isEmpty() || name.indexOf('\0') >= 0) {
      throw invalid("the name of an xattr is empty or has a NUL character");
    }
    UnicodeText.check(name, "the name of the xattr");
    int length = name.getBytes(UTF_8).length;
    if (length > NAME_MAX) {
      throw invalid(
          "the name of an xattr has %d bytes; %d is the most".formatted(length, NAME_MAX));
    }
  }

  private static void checkSize(XAttr xattr) throws TakoException {
    int size = xattr.getName().getBytes(UTF_8).length + xattr.getValue().size();
    if (size > SIZE_MAX) {
      throw invalid(
          "The XAttr is too big. The maximum combined size of the name and value is %d, but the total size is %d"
              .formatted(SIZE_MAX, size));
    }
  }

  private static void checkCount(XAttrTable xattrs, long id) throws TakoException {
    if (xattrs.count(id, COUNT_MAX) == COUNT_MAX) {
      throw invalid(
          "Cannot add additional XAttr to inode, would exceed limit of %d".formatted(COUNT_MAX));
    }
  }

  private static String prefixed(XAttr xattr) {
    String namespace =
        switch (xattr.getNamespace()) {
          case XATTR_USER -> "user";
          case XATTR_TRUSTED -> "trusted";
          case XATTR_SECURITY -> "security";
          case UNRECOGNIZED -> "unknown";
        };
    return namespace + "." + xattr.getName();
  }

  private static TakoException denied(String why) {
    return new TakoException(Status.PERMISSION_DENIED, why);
  }

  private static TakoException invalid(String why) {
    return new TakoException(Status.INVALID_ARGUMENT, why);
  }
}
