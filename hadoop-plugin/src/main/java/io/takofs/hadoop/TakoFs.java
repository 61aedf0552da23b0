package io.takofs.hadoop;

import io.takofs.client.ClusterUri;
import io.takofs.client.CreateOptions;
import io.takofs.client.ServerUri;
import io.takofs.hadoop.internal.ClientConfig;
import io.takofs.hadoop.internal.CreateModes;
import io.takofs.hadoop.internal.FileSystemOperations;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.AbstractFileSystem;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.util.Progressable;

/**
 * Tako for Hadoop's {@code FileContext}: a {@link TakoFileSystem} that shares its client with
 * others and whose callers have applied the umask. Renames are the server's own, so that one that
 * replaces its target is atomic.
 *
 * <p>Thread rule: any thread.
 */
public class TakoFs extends AbstractFileSystem implements IOStatisticsSource {
  static {
    ApiSelection.select();
  }

  private final TakoFileSystem fs = new TakoFileSystem();

  /** Called by Hadoop: the class stands in {@code fs.AbstractFileSystem.tako.impl}. */
  public TakoFs(URI name, Configuration conf) throws IOException, URISyntaxException {
    super(
        ClusterUri.canonical(name, ClientConfig.of(conf)),
        ServerUri.SCHEME,
        true,
        ServerUri.DEFAULT_PORT);
    fs.initializeForContext(getUri(), conf, statistics);
  }

  /** {@code path}, refused as a file context refuses it unless it is of this file system. */
  private Path own(Path path) {
    checkPath(path);
    return path;
  }

  // ---- identity and capabilities

  @Override
  public int getUriDefaultPort() {
    return ServerUri.DEFAULT_PORT;
  }

  @Override
  public Path getHomeDirectory() {
    return fs.getHomeDirectory();
  }

  @Override
  @Deprecated
  public FsServerDefaults getServerDefaults() throws IOException {
    return fs.getServerDefaults(null);
  }

  @Override
  public FsServerDefaults getServerDefaults(Path path) throws IOException {
    return fs.getServerDefaults(path);
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    String checked =
        PathCapabilitiesSupport.validatePathCapabilityArgs(makeQualified(path), capability);
    return FileSystemOperations.hasPathCapability(checked)
        || super.hasPathCapability(path, capability);
  }

  /** Of the operations of the {@code FileContext} that this was made for. */
  @Override
  public IOStatistics getIOStatistics() {
    return fs.getIOStatistics();
  }

  // ---- files

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return fs.open(own(path), bufferSize);
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return fs.openFileWithOptions(own(path), parameters);
  }

  @Override
  public FSDataOutputStream createInternal(
      Path path,
      EnumSet<CreateFlag> flags,
      FsPermission permission,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum,
      boolean createParent)
      throws IOException {
    CreateOptions options = CreateModes.options(createParent, replication, blockSize);
    return fs.create(own(path), flags, CreateModes.withPermission(options, permission));
  }

  /** True: the file has its new length when this returns. */
  @Override
  public boolean truncate(Path path, long length) throws IOException {
    return fs.truncate(own(path), length);
  }

  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    return fs.getFileChecksum(own(path));
  }

  /** Reads are always verified. */
  @Override
  public void setVerifyChecksum(boolean verify) {}

  // ---- names

  @Override
  public void mkdir(Path path, FsPermission permission, boolean createParent) throws IOException {
    fs.mkdirs(own(path), permission, createParent);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return fs.delete(own(path), recursive);
  }

  @Override
  public void renameInternal(Path source, Path target) throws IOException {
    fs.rename(own(source), own(target), false);
  }

  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    fs.rename(own(source), own(target), overwrite);
  }

  // ---- statuses and listings

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return fs.getFileStatus(own(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return fs.listStatus(own(path));
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return fs.listStatusIterator(own(path));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return fs.listLocatedStatus(own(path));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    return fs.getFileBlockLocations(own(path), start, length);
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    fs.access(own(path), mode);
  }

  @Override
  public FsStatus getFsStatus() throws IOException {
    return fs.getStatus(null);
  }

  // ---- attributes

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    fs.setPermission(own(path), permission);
  }

  @Override
  public void setOwner(Path path, String owner, String group) throws IOException {
    fs.setOwner(own(path), owner, group);
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    fs.setTimes(own(path), modified, accessed);
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    return fs.setReplication(own(path), replication);
  }

  // ---- ACLs and extended attributes

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fs.modifyAclEntries(own(path), entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    fs.removeAclEntries(own(path), entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    fs.removeDefaultAcl(own(path));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    fs.removeAcl(own(path));
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    fs.setAcl(own(path), entries);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return fs.getAclStatus(own(path));
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    fs.setXAttr(own(path), name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return fs.getXAttr(own(path), name);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return fs.getXAttrs(own(path));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    return fs.getXAttrs(own(path), names);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return fs.listXAttrs(own(path));
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    fs.removeXAttr(own(path), name);
  }

  // ---- storage policies

  @Override
  public Collection<? extends BlockStoragePolicySpi> getAllStoragePolicies() throws IOException {
    return fs.getAllStoragePolicies();
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return fs.getStoragePolicy(own(path));
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    fs.setStoragePolicy(own(path), policy);
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    fs.unsetStoragePolicy(own(path));
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    fs.satisfyStoragePolicy(own(path));
  }
}
