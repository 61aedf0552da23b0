package io.takofs.hadoop.internal;

import io.takofs.client.XAttrs;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.XAttrSetFlag;

/**
 * Extended attributes. Paths are qualified, names have their namespace. A name or flags that can
 * never be right are a {@link HadoopIllegalArgumentException}.
 *
 * <p>Thread rule: any thread.
 */
public final class XAttrOperations {
  private static final byte[] NO_VALUE = {};

  private final XAttrs xattrs;

  XAttrOperations(XAttrs xattrs) {
    this.xattrs = xattrs;
  }

  /** A null value sets an empty one. */
  public void set(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    check(name);
    if (flags == null || flags.isEmpty()) {
      throw new HadoopIllegalArgumentException("A flag must be specified.");
    }
    Call.to(
        path,
        file -> {
          xattrs.set(
              file,
              name,
              value == null ? NO_VALUE : value,
              flags.contains(XAttrSetFlag.CREATE),
              flags.contains(XAttrSetFlag.REPLACE));
          return null;
        });
  }

  public Map<String, byte[]> getAll(Path path) throws IOException {
    return Call.to(path, xattrs::getAll);
  }

  /** Fails if one of them does not exist. */
  public Map<String, byte[]> get(Path path, List<String> names) throws IOException {
    if (names == null || names.isEmpty()) {
      throw new HadoopIllegalArgumentException("XAttr names cannot be null or empty.");
    }
    names.forEach(XAttrOperations::check);
    return Call.to(path, file -> xattrs.get(file, names));
  }

  public List<String> names(Path path) throws IOException {
    return Call.to(path, xattrs::names);
  }

  public void remove(Path path, String name) throws IOException {
    check(name);
    Call.to(
        path,
        file -> {
          xattrs.remove(file, name);
          return null;
        });
  }

  private static void check(String name) {
    if (!XAttrs.isName(name)) {
      throw new HadoopIllegalArgumentException(
          "'%s': an XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'"
              .formatted(name));
    }
  }
}
