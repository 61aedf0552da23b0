package io.takofs.hadoop;

import io.takofs.hadoop.internal.FileSystemOperations;
import io.takofs.hadoop.internal.QuotaOperations;
import java.io.IOException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;

/**
 * A file system with operations to delegate to, and those calls that only pass a path on.
 * Subclasses add what newer versions of Hadoop have; all are public, else the compiler would repeat
 * their methods in {@link TakoFileSystem}.
 */
public abstract class BaseApi extends FileSystem {
  /** The operations, for one that changes nothing. */
  abstract FileSystemOperations reading() throws IOException;

  /** The operations, for one that changes something. */
  abstract FileSystemOperations writing() throws IOException;

  /** {@code path} with this file system's scheme, host and working directory. */
  abstract Path qualified(Path path);

  // ---- ACLs and extended attributes

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().modify(qualified(path), entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().removeEntries(qualified(path), entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    writing().acls().removeDefault(qualified(path));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    writing().acls().remove(qualified(path));
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().replace(qualified(path), entries);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return reading().acls().status(qualified(path));
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    writing().xattrs().set(qualified(path), name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return reading().xattrs().get(qualified(path), List.of(name)).values().iterator().next();
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return reading().xattrs().getAll(qualified(path));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    return reading().xattrs().get(qualified(path), names);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return reading().xattrs().names(qualified(path));
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    writing().xattrs().remove(qualified(path), name);
  }

  // ---- storage policies

  @Override
  public Collection<? extends BlockStoragePolicySpi> getAllStoragePolicies() throws IOException {
    return reading().policies().all();
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return reading().policies().of(qualified(path));
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    writing().policies().set(qualified(path), policy);
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    writing().policies().unsetOrSatisfy(qualified(path));
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    writing().policies().unsetOrSatisfy(qualified(path));
  }

  // ---- quotas

  @Override
  public QuotaUsage getQuotaUsage(Path path) throws IOException {
    return reading().quotas().usage(qualified(path));
  }

  /** As in HDFS: -1 ends a limit, {@link Long#MAX_VALUE} leaves it as it is. */
  @Override
  public void setQuota(Path path, long names, long space) throws IOException {
    writing().quotas().set(qualified(path), names, space);
  }

  @Override
  public void setQuotaByStorageType(Path path, StorageType type, long quota) {
    throw QuotaOperations.byStorageType(path, type);
  }
}
