package io.takofs.hadoop;

import io.takofs.client.ClusterUri;
import io.takofs.client.CreateOptions;
import io.takofs.client.ServerUri;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.hadoop.internal.ClientConfig;
import io.takofs.hadoop.internal.CreateFileBuilder;
import io.takofs.hadoop.internal.CreateModes;
import io.takofs.hadoop.internal.FileSystemOperations;
import io.takofs.hadoop.internal.HandleOperations;
import io.takofs.hadoop.internal.OpenFileOptions;
import io.takofs.hadoop.internal.OperationStatistics;
import io.takofs.hadoop.internal.PathNames;
import io.takofs.hadoop.internal.SharedClients;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.impl.FileSystemMultipartUploaderBuilder;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.Progressable;

/**
 * Tako as a Hadoop {@link FileSystem}: {@code tako://host:port/}, or {@code tako://NAME/} of a
 * cluster.
 *
 * <p>It qualifies paths, applies the umask and counts statistics. The classes named {@code
 * *Operations} implement the operations.
 *
 * <p>Thread rule: any thread.
 */
public class TakoFileSystem extends NewestApi implements IOStatisticsSource {
  private final OperationStatistics operationStatistics = new OperationStatistics();
  private URI uri;
  private String user;
  private FsPermission umask;
  private Path workingDirectory;
  private TakoConfig config;
  private volatile FileSystemOperations operations;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    configure(name, conf);
    operations =
        FileSystemOperations.on(
            FileSystemOperations.connect(uri, ClientConfig.of(conf), user), uri, statistics);
  }

  /**
   * Makes this the file system of a {@code FileContext}. Hadoop never closes it, so it shares its
   * client.
   *
   * @param counted statistics of the context's file system, which count instead of those of {@code
   *     FileSystem}
   */
  void initializeForContext(URI name, Configuration conf, Statistics counted) throws IOException {
    configure(name, conf);
    statistics = counted;
    operations = FileSystemOperations.on(SharedClients.get(uri, user, conf), uri, statistics);
  }

  private void configure(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    config = ClientConfig.of(conf);
    uri = ClusterUri.canonical(name, config);
    user = UserGroupInformation.getCurrentUser().getShortUserName();
    umask = FsPermission.getUMask(conf);
    workingDirectory = getHomeDirectory();
  }

  /** The operations, unless this file system was closed. */
  private FileSystemOperations operations() throws IOException {
    FileSystemOperations open = operations;
    if (open == null) {
      throw new IOException("Filesystem closed: " + uri);
    }
    return open;
  }

  @Override
  FileSystemOperations reading() throws IOException {
    statistics.incrementReadOps(1);
    return operations();
  }

  @Override
  FileSystemOperations writing() throws IOException {
    statistics.incrementWriteOps(1);
    return operations();
  }

  @Override
  Path qualified(Path path) {
    checkPath(path);
    return path.makeQualified(uri, workingDirectory);
  }

  // ---- identity and capabilities

  @Override
  public String getScheme() {
    return ServerUri.SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  protected int getDefaultPort() {
    return ServerUri.DEFAULT_PORT;
  }

  /** Null of a cluster: its name is no host, and there are no tokens to find by it. */
  @Override
  public String getCanonicalServiceName() {
    return uri.getPort() < 0 ? null : super.getCanonicalServiceName();
  }

  @Override
  public Path getHomeDirectory() {
    return new Path(uri.getScheme(), uri.getAuthority(), USER_HOME_PREFIX + "/" + user);
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    Path absolute = qualified(directory);
    PathNames.of(absolute);
    workingDirectory = absolute;
  }

  @Override
  public FsServerDefaults getServerDefaults(Path path) throws IOException {
    return operations().serverDefaults(config);
  }

  @Override
  public long getDefaultBlockSize(Path path) {
    return config.get(ConfigKeys.BLOCK_SIZE);
  }

  @Override
  public short getDefaultReplication(Path path) {
    try {
      return getServerDefaults(path).getReplication();
    } catch (IOException e) {
      return 0; // the server decides when the file is created
    }
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    String checked =
        PathCapabilitiesSupport.validatePathCapabilityArgs(qualified(path), capability);
    return FileSystemOperations.hasPathCapability(checked)
        || FileSystemOperations.hasFileSystemCapability(checked)
        || super.hasPathCapability(path, capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return operationStatistics.durations();
  }

  @Override
  public StorageStatistics getStorageStatistics() {
    return operationStatistics;
  }

  // ---- files

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_OPEN, () -> reading().data().open(qualified(path), bufferSize));
  }

  @Override
  public FSDataInputStream open(PathHandle handle, int bufferSize) throws IOException {
    return reading().handles().open(handle, bufferSize);
  }

  @Override
  protected PathHandle createPathHandle(FileStatus status, Options.HandleOpt... options) {
    checkPath(status.getPath());
    return HandleOperations.handle(status, options);
  }

  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return OpenFileOptions.open(
        path,
        parameters,
        (bufferSize, options) ->
            operationStatistics.timed(
                StoreStatisticNames.OP_OPEN,
                () -> reading().data().open(qualified(path), bufferSize, options)));
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> createFile(Path path) {
    return new CreateFileBuilder(this, path, this::create).create().overwrite(true);
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> appendFile(Path path) {
    return new CreateFileBuilder(this, path, this::create).append();
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    EnumSet<CreateFlag> flags =
        overwrite
            ? EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE)
            : EnumSet.of(CreateFlag.CREATE);
    return create(path, permission, flags, CreateModes.options(true, replication, blockSize));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return create(path, permission, flags, CreateModes.options(true, replication, blockSize));
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return create(path, permission, flags, CreateModes.options(false, replication, blockSize));
  }

  private FSDataOutputStream create(
      Path path, FsPermission permission, EnumSet<CreateFlag> flags, CreateOptions options)
      throws IOException {
    FsPermission masked = masked(permission, FsPermission.getFileDefault());
    return create(path, flags, CreateModes.withPermission(options, masked));
  }

  /** Creates, replaces or appends to a file; the umask has been applied. */
  FSDataOutputStream create(Path path, EnumSet<CreateFlag> flags, CreateOptions options)
      throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_CREATE,
        () -> writing().data().create(qualified(path), flags, options));
  }

  /** The bits of {@code permission}, or of {@code otherwise} when null, that the umask leaves. */
  private FsPermission masked(FsPermission permission, FsPermission otherwise) {
    return FsCreateModes.applyUMask(permission == null ? otherwise : permission, umask);
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_APPEND, () -> writing().data().append(qualified(path)));
  }

  /** True: the file has its new length when this returns. */
  @Override
  public boolean truncate(Path path, long length) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_TRUNCATE, () -> writing().data().truncate(qualified(path), length));
    return true;
  }

  @Override
  public void concat(Path target, Path[] sources) throws IOException {
    writing().data().concat(qualified(target), Stream.of(sources).map(this::qualified).toList());
  }

  @Override
  public FileChecksum getFileChecksum(Path path, long length) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_FILE_CHECKSUM,
        () -> reading().data().checksum(qualified(path), length));
  }

  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    return getFileChecksum(path, Long.MAX_VALUE);
  }

  /** Parts are files of a hidden directory, which are concatenated. */
  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path base) {
    return new FileSystemMultipartUploaderBuilder(this, qualified(base));
  }

  /** True: the file is closed when this returns. */
  @Override
  public boolean recoverLease(Path path) throws IOException {
    return writing().leases().recover(qualified(path));
  }

  /** Returns true if the file is not open for writing. */
  @Override
  public boolean isFileClosed(Path path) throws IOException {
    return reading().leases().isClosed(qualified(path));
  }

  // ---- names

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    mkdirs(path, masked(permission, FsPermission.getDirDefault()), true);
    return true;
  }

  /** Makes a directory, which may exist; the umask has been applied. */
  void mkdirs(Path path, FsPermission masked, boolean createParents) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_MKDIRS,
        () -> writing().namespace().mkdirs(qualified(path), masked, createParents));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_DELETE,
        () -> writing().namespace().delete(qualified(path), recursive));
  }

  @Override
  public boolean rename(Path source, Path target) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_RENAME,
        () -> writing().namespace().renameOrRefuse(qualified(source), qualified(target)));
  }

  @Override
  @Deprecated
  protected void rename(Path source, Path target, Options.Rename... options) throws IOException {
    rename(source, target, Set.of(options).contains(Options.Rename.OVERWRITE));
  }

  /** Renames to exactly {@code target}: atomic, also when something is replaced. */
  void rename(Path source, Path target, boolean overwrite) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_RENAME,
        () -> writing().namespace().rename(qualified(source), qualified(target), overwrite));
  }

  // ---- statuses and listings

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    checkPath(path);
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_FILE_STATUS,
        () -> reading().statuses().status(path.isAbsolute() ? path : qualified(path)));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_STATUS, () -> reading().statuses().list(qualified(path)));
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_STATUS, () -> reading().statuses().iterate(qualified(path)));
  }

  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_LIST_LOCATED_STATUS,
        () -> reading().statuses().iterateLocated(qualified(path), filter));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    return file == null ? null : operations().statuses().blocks(file, start, length);
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_ACCESS, () -> reading().statuses().access(qualified(path), mode));
  }

  @Override
  public ContentSummary getContentSummary(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_CONTENT_SUMMARY,
        () -> reading().quotas().contentSummary(qualified(path)));
  }

  @Override
  public FsStatus getStatus(Path path) throws IOException {
    return operationStatistics.timed(
        StoreStatisticNames.OP_GET_STATUS, () -> reading().statuses().usage());
  }

  // ---- attributes

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_PERMISSION,
        () -> writing().attributes().setPermission(qualified(path), permission));
  }

  @Override
  public void setOwner(Path path, String owner, String group) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_OWNER,
        () -> writing().attributes().setOwner(qualified(path), owner, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    operationStatistics.run(
        StoreStatisticNames.OP_SET_TIMES,
        () -> writing().attributes().setTimes(qualified(path), modified, accessed));
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    return writing().attributes().setReplication(qualified(path), replication);
  }

  // ---- the end

  /** Files still being written are closed, whole. The second and later calls do nothing. */
  @Override
  public void close() throws IOException {
    FileSystemOperations open = operations;
    try {
      // Deletes the paths marked for deletion, so the client must still be open.
      super.close();
    } finally {
      operations = null;
      if (open != null) {
        open.close();
      }
    }
  }
}
