package io.takofs.client;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.GetXAttrs;
import io.takofs.proto.RemoveXAttr;
import io.takofs.proto.Request;
import io.takofs.proto.SetXAttr;
import io.takofs.proto.Status;
import io.takofs.proto.XAttr;
import io.takofs.proto.XAttrList;
import io.takofs.proto.XAttrNamespace;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Extended attributes of files and directories: {@code user.NAME} for whoever may read or write
 * them, {@code trusted.NAME} for the superuser. The namespaces system and raw are nobody's, of
 * security there is {@value #SECURITY} alone.
 *
 * <p>Thread rule: any thread.
 */
public final class XAttrs {
  private static final String SYSTEM = "system";
  private static final String RAW = "raw";
  private static final String SECURITY = "security.hdfs.unreadable.by.superuser";

  private final Session session;

  XAttrs(Session session) {
    this.session = session;
  }

  /**
   * Sets one.
   *
   * @param create whether it may be new
   * @param replace whether it may be there already
   * @throws TakoException INVALID_ARGUMENT when it is otherwise, or too long, or one too many
   */
  public void set(String path, String name, byte[] value, boolean create, boolean replace)
      throws TakoException {
    XAttr xattr = parse(path, name).setValue(ByteString.copyFrom(value)).build();
    session.call(
        "setXAttr",
        path,
        Request.newBuilder()
            .setSetXattr(
                SetXAttr.newBuilder()
                    .setPath(path)
                    .setXattr(xattr)
                    .setCreate(create)
                    .setReplace(replace)));
  }

  /** Removes one; INVALID_ARGUMENT when it is not there. */
  public void remove(String path, String name) throws TakoException {
    session.call(
        "removeXAttr",
        path,
        Request.newBuilder()
            .setRemoveXattr(RemoveXAttr.newBuilder().setPath(path).setXattr(parse(path, name))));
  }

  /** All that the caller may see, by name. */
  public Map<String, byte[]> getAll(String path) throws TakoException {
    return values(all("getXAttrs", path, false));
  }

  /** Returns the named attributes, in this order; INVALID_ARGUMENT when one does not exist. */
  public Map<String, byte[]> get(String path, List<String> names) throws TakoException {
    List<XAttr> wanted = new ArrayList<>();
    for (String name : names) {
      wanted.add(parse(path, name).build());
    }
    List<XAttr> found = new ArrayList<>();
    while (found.size() < wanted.size()) {
      List<XAttr> left = wanted.subList(found.size(), wanted.size());
      GetXAttrs.Builder request = GetXAttrs.newBuilder().setPath(path).addAllWanted(left);
      found.addAll(page("getXAttrs", path, request).getXattrsList());
    }
    return values(found);
  }

  /** Names of all that the caller may see. */
  public List<String> names(String path) throws TakoException {
    return all("listXAttrs", path, true).stream().map(XAttrs::prefixed).toList();
  }

  private List<XAttr> all(String operation, String path, boolean namesOnly) throws TakoException {
    List<XAttr> found = new ArrayList<>();
    GetXAttrs.Builder request = GetXAttrs.newBuilder().setPath(path).setNamesOnly(namesOnly);
    while (true) {
      XAttrList page = page(operation, path, request);
      found.addAll(page.getXattrsList());
      if (!page.getMore()) {
        return found;
      }
      request.setAfter(found.get(found.size() - 1).toBuilder().clearValue());
    }
  }

  private XAttrList page(String operation, String path, GetXAttrs.Builder request)
      throws TakoException {
    XAttrList page =
        session.call(operation, path, Request.newBuilder().setGetXattrs(request)).getXattrs();
    if (page.getMore() && page.getXattrsCount() == 0) {
      throw new TakoException(
          Status.MALFORMED, operation + " " + path + ": the server says more and gives nothing");
    }
    return page;
  }

  private static Map<String, byte[]> values(List<XAttr> xattrs) {
    Map<String, byte[]> values = new LinkedHashMap<>();
    xattrs.forEach(xattr -> values.put(prefixed(xattr), xattr.getValue().toByteArray()));
    return values;
  }

  // ---- names

  /** Whether {@code name} begins with a namespace that there is, and goes on. */
  public static boolean isName(String name) {
    String prefix = prefix(name);
    boolean known =
        prefix.equals(SYSTEM)
            || prefix.equals(RAW)
            || namespace(prefix) != XAttrNamespace.UNRECOGNIZED;
    return known && name.length() > prefix.length() + 1;
  }

  private static XAttr.Builder parse(String path, String name) throws TakoException {
    if (!isName(name)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s: '%s' is not the name of an xattr: write user.NAME or trusted.NAME"
              .formatted(path, name));
    }
    UnicodeText.check(name, path + ": the name of the xattr");
    String prefix = prefix(name);
    XAttrNamespace namespace = namespace(prefix);
    boolean foreign = namespace == XAttrNamespace.XATTR_SECURITY && !name.equals(SECURITY);
    if (namespace == XAttrNamespace.UNRECOGNIZED || foreign) {
      throw new TakoException(
          Status.PERMISSION_DENIED, "User doesn't have permission for xattr: " + name);
    }
    return XAttr.newBuilder().setNamespace(namespace).setName(name.substring(prefix.length() + 1));
  }

  private static String prefix(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? "" : name.substring(0, dot).toLowerCase(Locale.ROOT);
  }

  private static XAttrNamespace namespace(String prefix) {
    return switch (prefix) {
      case "user" -> XAttrNamespace.XATTR_USER;
      case "trusted" -> XAttrNamespace.XATTR_TRUSTED;
      case "security" -> XAttrNamespace.XATTR_SECURITY;
      default -> XAttrNamespace.UNRECOGNIZED;
    };
  }

  private static String prefixed(XAttr xattr) {
    String namespace =
        switch (xattr.getNamespace()) {
          case XATTR_USER -> "user.";
          case XATTR_TRUSTED -> "trusted.";
          case XATTR_SECURITY -> "security.";
          case UNRECOGNIZED -> "unknown.";
        };
    return namespace + xattr.getName();
  }
}
