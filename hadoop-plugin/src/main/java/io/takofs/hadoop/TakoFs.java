package io.takofs.hadoop;

import io.takofs.client.CreateOptions;
import io.takofs.client.ServerUri;
import io.takofs.client.TakoClient;
import io.takofs.hadoop.internal.ClientConfig;
import io.takofs.hadoop.internal.CreateModes;
import io.takofs.hadoop.internal.FileSystemOperations;
import io.takofs.hadoop.internal.OpenFileOptions;
import io.takofs.hadoop.internal.OperationStatistics;
import io.takofs.hadoop.internal.SharedClients;
import io.takofs.hadoop.internal.StatusOperations;
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
import org.apache.hadoop.fs.FileSystem;
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
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.Progressable;

/**
 * Tako for Hadoop's {@code FileContext}. Renames are the server's own, so that one that replaces
 * its target is atomic.
 *
 * <p>Thread rule: any thread.
 */
public class TakoFs extends AbstractFileSystem implements IOStatisticsSource {
  private final OperationStatistics operationStatistics = new OperationStatistics();
  private final String user;
  private final FsServerDefaults defaults;
  private final FileSystemOperations operations;

  /** Called by Hadoop: the class stands in {@code fs.AbstractFileSystem.tako.impl}. */
  public TakoFs(URI name, Configuration conf) throws IOException, URISyntaxException {
    super(ServerUri.canonical(name), ServerUri.SCHEME, true, ServerUri.DEFAULT_PORT);
    user = UserGroupInformation.getCurrentUser().getShortUserName();
    defaults = FileSystemOperations.serverDefaults(ClientConfig.of(conf));
    TakoClient client = SharedClients.get(getUri(), user, conf);
    operations = FileSystemOperations.on(client, getUri(), statistics);
  }

  private FileSystemOperations reading() {
    statistics.incrementReadOps(1);
    return operations;
  }

  private FileSystemOperations writing() {
    statistics.incrementWriteOps(1);
    return operations;
  }

  // ---- what it is

  @Override
  public int getUriDefaultPort() {
    return ServerUri.DEFAULT_PORT;
  }

  @Override
  public Path getHomeDirectory() {
    return makeQualified(new Path(FileSystem.USER_HOME_PREFIX + "/" + user));
  }

  @Override
  @Deprecated
  public FsServerDefaults getServerDefaults() {
    return defaults;
  }

  @Override
  public FsServerDefaults getServerDefaults(Path path) {
    return defaults;
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
    return operationStatistics.durations();
  }

  // ---- files

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_OPEN, () -> reading().data().open(makeQualified(path), bufferSize));
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return OpenFileOptions.open(
        path,
        parameters,
        (bufferSize, options) ->
            operationStatistics.timed(
                StoreStatisticNames.OP_OPEN,
                () -> reading().data().open(makeQualified(path), bufferSize, options)));
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
    CreateOptions options =
        CreateModes.withPermission(
            CreateModes.options(createParent, replication, blockSize), permission);
    return operationStatistics.timed(
        StoreStatisticNames.OP_CREATE,
        () -> writing().data().create(makeQualified(path), flags, options));
  }

  /** True: the file has its new length when this returns. */
  @Override
  public boolean truncate(Path path, long length) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_TRUNCATE,
        () -> writing().data().truncate(makeQualified(path), length));
    return true;
  }

  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_FILE_CHECKSUM,
        () -> reading().data().checksum(makeQualified(path), Long.MAX_VALUE));
  }

  /** Reads are always verified. */
  @Override
  public void setVerifyChecksum(boolean verify) {}

  // ---- names

  @Override
  public void mkdir(Path path, FsPermission permission, boolean createParent) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_MKDIRS,
        () -> writing().namespace().mkdirs(makeQualified(path), permission, createParent));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_DELETE,
        () -> writing().namespace().delete(makeQualified(path), recursive));
  }

  @Override
  public void renameInternal(Path source, Path target) throws IOException {
    renameInternal(source, target, false);
  }

  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_RENAME,
        () ->
            writing().namespace().rename(makeQualified(source), makeQualified(target), overwrite));
  }

  // ---- what is there

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    checkPath(path);
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_FILE_STATUS, () -> reading().statuses().status(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_STATUS, () -> reading().statuses().list(makeQualified(path)));
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_STATUS,
        () -> reading().statuses().iterate(makeQualified(path)));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_LOCATED_STATUS,
        () -> reading().statuses().iterateLocated(makeQualified(path), any -> true));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    StatusOperations statuses = reading().statuses();
    return statuses.blocks(statuses.status(makeQualified(path)), start, length);
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_ACCESS,
        () -> reading().statuses().access(makeQualified(path), mode));
  }

  @Override
  public FsStatus getFsStatus() throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_STATUS, () -> reading().statuses().usage());
  }

  // ---- attributes

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_PERMISSION,
        () -> writing().attributes().setPermission(makeQualified(path), permission));
  }

  @Override
  public void setOwner(Path path, String owner, String group) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_OWNER,
        () -> writing().attributes().setOwner(makeQualified(path), owner, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_TIMES,
        () -> writing().attributes().setTimes(makeQualified(path), modified, accessed));
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    return writing().attributes().setReplication(makeQualified(path), replication);
  }

  // ---- ACLs and extended attributes

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().modify(makeQualified(path), entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().removeEntries(makeQualified(path), entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    writing().acls().removeDefault(makeQualified(path));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    writing().acls().remove(makeQualified(path));
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    writing().acls().replace(makeQualified(path), entries);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return reading().acls().status(makeQualified(path));
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    writing().xattrs().set(makeQualified(path), name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return reading().xattrs().get(makeQualified(path), List.of(name)).values().iterator().next();
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return reading().xattrs().getAll(makeQualified(path));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    return reading().xattrs().get(makeQualified(path), names);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return reading().xattrs().names(makeQualified(path));
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    writing().xattrs().remove(makeQualified(path), name);
  }

  // ---- storage policies

  @Override
  public Collection<? extends BlockStoragePolicySpi> getAllStoragePolicies() throws IOException {
    return reading().policies().all();
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return reading().policies().of(makeQualified(path));
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    writing().policies().set(makeQualified(path), policy);
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    writing().policies().unsetOrSatisfy(makeQualified(path));
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    writing().policies().unsetOrSatisfy(makeQualified(path));
  }
}
