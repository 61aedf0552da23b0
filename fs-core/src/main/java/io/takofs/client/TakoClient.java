package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.client.internal.file.Concatenation;
import io.takofs.client.internal.file.FileAccess;
import io.takofs.client.internal.file.Truncation;
import io.takofs.client.internal.session.Connector;
import io.takofs.client.internal.session.IdleCloser;
import io.takofs.client.internal.session.LeaseKeeper;
import io.takofs.client.internal.session.RpcConnector;
import io.takofs.client.internal.session.Session;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.CheckAccess;
import io.takofs.proto.Delete;
import io.takofs.proto.GetFile;
import io.takofs.proto.GetServerStatus;
import io.takofs.proto.GetUsage;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.RecoverLease;
import io.takofs.proto.Rename;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.transport.TransportCounters;
import java.io.Closeable;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;

/**
 * A client of one Tako server, or of a cluster.
 *
 * <p>Paths are absolute, {@code /}-separated, without empty, {@code .} or {@code ..} elements; each
 * element is 1 to 255 bytes of UTF-8. Every failure is a {@link TakoException}: callers branch on
 * its status, people read its message, which names the operation, the path, the server and the
 * cause. A call that cannot be finished within {@code fs.tako.client.timeout} fails; until then a
 * broken connection is made again and the call is executed exactly once. When the server has ended
 * the session meanwhile ({@code SESSION_EXPIRED}), whether a change was made is unknown to the
 * caller, later calls work in a new session, and files that were open for writing are closed at
 * what was flushed.
 *
 * <p>Thread rule: any thread. No thread of its own runs unless files are open for writing, but for
 * a moment when a read is late.
 */
public final class TakoClient implements Closeable {
  private final URI uri;
  private final String user;
  private final TakoConfig config;
  private final Session session;
  private final LeaseKeeper leases;
  private final IdleCloser idle;
  private final FileOpener files;

  TakoClient(URI uri, TakoConfig config, String user, Connector connector) {
    this(uri, config, user, connector, Clock.SYSTEM, TakoClient::daemon);
  }

  /**
   * A client in a time of its own.
   *
   * @param threads makes those that renew leases, end what is not used, and connect to a server
   *     that may help a read that is late
   */
  TakoClient(
      URI uri,
      TakoConfig config,
      String user,
      Connector connector,
      Clock clock,
      ThreadFactory threads) {
    this.uri = uri;
    this.user = user;
    this.config = config;
    this.session = new Session(connector, config, user, connector.clientName(), clock, threads);
    this.leases = new LeaseKeeper(session, threads, clock);
    long idleNs = config.get(ConfigKeys.CLIENT_IDLE_TIMEOUT).toNanos();
    this.idle = new IdleCloser(session, leases, idleNs, threads, clock);
    session.onConnected(idle::connected);
    this.files = new FileOpener(session, leases, config);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * A client of the server or the cluster at {@code uri}. The connection is made by the first call.
   *
   * @param uri {@code tako://host[:port]}, any server of a cluster; the port is 7420 unless it is
   *     given; or {@code tako://NAME} of the cluster whose servers {@code
   *     fs.tako.cluster.NAME.servers} has; a path is ignored
   * @param user who calls, as permissions see it
   * @throws TakoException INVALID_ARGUMENT for a URI of another form
   */
  public static TakoClient connect(URI uri, TakoConfig config, String user) throws TakoException {
    TakoConfig own = new TakoConfig(config);
    List<String> servers = ClusterUri.servers(uri, own).stream().map(URI::getAuthority).toList();
    return new TakoClient(uri, own, user, new RpcConnector(servers, own));
  }

  /** The server's URI, as given. */
  public URI uri() {
    return uri;
  }

  /** The user whose name and groups the server checks. */
  public String user() {
    return user;
  }

  /**
   * Whether there may be a connection: false before the first call, and once connections were ended
   * because nothing used them. The next call makes them anew.
   */
  public boolean isConnected() {
    return idle.isConnected();
  }

  /**
   * Whether the server lets {@link #user} do anything: its own user, members of its supergroup, and
   * everybody when it does not check permissions. Connects when there was no call yet.
   */
  public boolean isSuperuser() throws TakoException {
    return session.open("connect", "").terms().getSuperuser();
  }

  /**
   * The groups of {@link #user} as the server knows them, which are those that permissions are
   * checked with. Connects when there was no call yet.
   */
  public List<String> groups() throws TakoException {
    return List.copyOf(session.open("connect", "").terms().getGroupsList());
  }

  /**
   * The transport to the server and the reason for its choice; connects when there was no call yet.
   */
  public String transportVerdict() throws TakoException {
    if (session.transportVerdict().isEmpty()) {
      session.open("connect", "");
    }
    return session.transportVerdict();
  }

  /**
   * Counters of each transport that this client used, by the transport's name ({@code shm}, {@code
   * tcp}) and the counter's ({@link TransportCounters#snapshot}); {@code reconnects} says how often
   * a connection for calls was made again. Empty before the first call, after {@link #close}, and
   * once connections were ended because nothing used them; never waits.
   */
  public Map<String, Map<String, Long>> transportCounters() {
    Map<String, Map<String, Long>> counters = new TreeMap<>();
    session
        .transportCounters()
        .forEach((transport, counted) -> counters.put(transport, counted.snapshot()));
    return counters;
  }

  /**
   * Bytes of buffers for file data that this client has now; never more than {@code
   * fs.tako.client.memory.max}, but for a few pages of each writer, and a buffer of each stream
   * that goes on over another transport.
   */
  public long bufferBytes() {
    return session.budget().used();
  }

  /** The most that {@link #bufferBytes} ever was. */
  public long bufferBytesPeak() {
    return session.budget().peak();
  }

  // ---- namespace

  /**
   * Makes a directory; does nothing when it exists.
   *
   * @param permission 12 bits, umask already applied; also of parents that are made
   * @param createParents whether missing parents are made, else NOT_FOUND
   * @throws TakoException NOT_A_DIRECTORY when a file is in the way
   */
  public void mkdirs(String path, int permission, boolean createParents) throws TakoException {
    mkdirs(path, permission, permission, createParents);
  }

  /**
   * The same with a permission to which no umask was applied: it counts where the parent has a
   * default ACL.
   */
  public void mkdirs(String path, int permission, int unmaskedPermission, boolean createParents)
      throws TakoException {
    session.call(
        "mkdirs",
        path,
        Request.newBuilder()
            .setMkdirs(
                Mkdirs.newBuilder()
                    .setPath(path)
                    .setPermission(permission)
                    .setUnmaskedPermission(unmaskedPermission)
                    .setCreateParents(createParents)));
  }

  /** Makes a directory with mode 0755 and its missing parents. */
  public void mkdirs(String path) throws TakoException {
    mkdirs(path, 0755, true);
  }

  /**
   * Status of the file or directory at {@code path}.
   *
   * @throws TakoException NOT_FOUND
   */
  public PathStatus getStatus(String path) throws TakoException {
    Request.Builder request = Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path));
    return PathStatus.of(path, session.call("stat", path, request).getFile());
  }

  /**
   * Status of the file at {@code path}.
   *
   * @throws TakoException NOT_FOUND, IS_A_DIRECTORY
   */
  public PathStatus getFileStatus(String path) throws TakoException {
    PathStatus status = getStatus(path);
    if (status.directory()) {
      throw new TakoException(Status.IS_A_DIRECTORY, path + " is a directory, not a file");
    }
    return status;
  }

  /**
   * The entries of a directory.
   *
   * @throws TakoException NOT_FOUND, NOT_A_DIRECTORY, PERMISSION_DENIED
   */
  public DirectoryIterator list(String path) throws TakoException {
    return new DirectoryIterator(session, path);
  }

  /**
   * Renames a file or directory, whatever is below it, atomically.
   *
   * @param target full path of the new entry; its parent must exist
   * @param overwrite replaces a file, or an empty directory, at target; else ALREADY_EXISTS
   */
  public void rename(String source, String target, boolean overwrite) throws TakoException {
    session.call(
        "rename to " + target + " of",
        source,
        Request.newBuilder()
            .setRename(
                Rename.newBuilder().setSource(source).setTarget(target).setOverwrite(overwrite)));
  }

  /**
   * Deletes a file, or a directory; with what is below it when {@code recursive}, at once for
   * everybody who looks.
   *
   * @throws TakoException NOT_FOUND, NOT_EMPTY
   */
  public void delete(String path, boolean recursive) throws TakoException {
    session.call(
        "delete",
        path,
        Request.newBuilder().setDelete(Delete.newBuilder().setPath(path).setRecursive(recursive)));
  }

  /**
   * Deletes files and empty directories, each by itself, with few calls; a missing entry counts as
   * deleted.
   *
   * @param base absolute path of a directory
   * @param names paths from there, empty for the directory itself
   * @return what could not be deleted and why
   */
  public Map<String, Status> deleteFiles(String base, List<String> names) throws TakoException {
    return new BulkDeletion(session, base).run(names);
  }

  /**
   * Cuts a closed file to {@code length} bytes, at most its present length.
   *
   * @throws TakoException LEASE_HELD while it is being written
   */
  public void truncate(String path, long length) throws TakoException {
    new Truncation(session, FileAccess.forReader(session, config, path), path, length).run();
  }

  /**
   * Moves the data of {@code sources}, in their order, after that of {@code target}; the sources
   * are gone afterwards. No byte moves, but for sources of a few KiB. All are closed files of one
   * directory; the sources are not empty, all different, and have blocks no larger than the
   * target's. It happens at once for everybody, but for very many or very large sources: then
   * several are done at a time, and whoever looks meanwhile sees that.
   *
   * @throws TakoException INVALID_ARGUMENT for paths that do not fit, LEASE_HELD when a file is
   *     open for writing, NOT_FOUND, IS_A_DIRECTORY, PERMISSION_DENIED
   */
  public void concat(String target, List<String> sources) throws TakoException {
    new Concatenation(session, leases, config, target, sources).run();
  }

  /** Sets the 12 permission bits. */
  public void setPermission(String path, int permission) throws TakoException {
    setAttributes("setPermission", path, SetAttributes.newBuilder().setPermission(permission));
  }

  /** Sets owner and group; null leaves one as it is. */
  public void setOwner(String path, String owner, String group) throws TakoException {
    SetAttributes.Builder change = SetAttributes.newBuilder();
    if (owner != null) {
      UnicodeText.check(owner, "setOwner " + path + ": the owner");
      change.setOwner(owner);
    }
    if (group != null) {
      UnicodeText.check(group, "setOwner " + path + ": the group");
      change.setGroup(group);
    }
    setAttributes("setOwner", path, change);
  }

  /** Sets times, milliseconds since 1970; -1 leaves one as it is. */
  public void setTimes(String path, long modificationTimeMs, long accessTimeMs)
      throws TakoException {
    SetAttributes.Builder change = SetAttributes.newBuilder();
    if (modificationTimeMs != -1) {
      change.setModificationTimeMs(modificationTimeMs);
    }
    if (accessTimeMs != -1) {
      change.setAccessTimeMs(accessTimeMs);
    }
    setAttributes("setTimes", path, change);
  }

  /** Sets the replication that a file records. */
  public void setReplication(String path, int replication) throws TakoException {
    setAttributes("setReplication", path, SetAttributes.newBuilder().setReplication(replication));
  }

  private void setAttributes(String operation, String path, SetAttributes.Builder change)
      throws TakoException {
    session.call(operation, path, Request.newBuilder().setSetAttributes(change.setPath(path)));
  }

  /**
   * Checks that {@link #user} may do with what {@code path} names all that is asked.
   *
   * @param access 3 bits: read 4, write 2, execute 1
   * @throws TakoException PERMISSION_DENIED
   */
  public void checkAccess(String path, int access) throws TakoException {
    session.call(
        "access",
        path,
        Request.newBuilder()
            .setCheckAccess(CheckAccess.newBuilder().setPath(path).setAccess(access)));
  }

  /** ACLs. */
  public Acls acls() {
    return new Acls(session);
  }

  /** Extended attributes. */
  public XAttrs xattrs() {
    return new XAttrs(session);
  }

  /** Quotas of directories. */
  public Quotas quotas() {
    return new Quotas(session);
  }

  /**
   * Ends the lease on a file whoever holds it: the file closes at what was flushed, and its former
   * writer is refused. Does nothing when nobody writes it.
   */
  public void recoverLease(String path) throws TakoException {
    session.call(
        "recoverLease",
        path,
        Request.newBuilder().setRecoverLease(RecoverLease.newBuilder().setPath(path)));
  }

  /**
   * Sums up the tree at {@code path}, a bounded part of it a call. An entry that exists all the
   * while at one place is counted once; one that is created, renamed or deleted meanwhile may be
   * counted or not.
   *
   * @throws TakoException NOT_FOUND; PERMISSION_DENIED when a directory below may not be listed
   */
  public ContentSummary contentSummary(String path) throws TakoException {
    return Summation.of(session, path);
  }

  // ---- data

  /**
   * Creates a file and opens it for writing. It exists, with length 0, when this returns.
   *
   * @throws TakoException ALREADY_EXISTS without overwrite; LEASE_HELD when another client writes
   *     it; NOT_FOUND, NOT_A_DIRECTORY for its parents
   */
  public TakoOutputStream create(String path, CreateOptions options) throws TakoException {
    return files.create(path, options);
  }

  /**
   * Opens a closed file to write after its end.
   *
   * @throws TakoException LEASE_HELD when another client writes it
   */
  public TakoOutputStream append(String path) throws TakoException {
    return files.append(path);
  }

  /**
   * Opens a file for reading: its committed bytes, and those that its writer flushes later.
   *
   * @throws TakoException NOT_FOUND, IS_A_DIRECTORY, PERMISSION_DENIED
   */
  public TakoInputStream open(String path) throws TakoException {
    return open(path, OpenOptions.DEFAULT);
  }

  /**
   * Opens a file for reading, in one call that brings the places of its first 512 extents, or the
   * content of a small file.
   *
   * @throws TakoException NOT_FOUND, IS_A_DIRECTORY, PERMISSION_DENIED
   */
  public TakoInputStream open(String path, OpenOptions options) throws TakoException {
    return files.open(path, options);
  }

  /**
   * Opens a file by its id, wherever it was renamed to.
   *
   * @param path where it was seen
   * @param parentId of the directory it was seen in
   * @throws TakoException NOT_FOUND when it was deleted; PERMISSION_DENIED
   */
  public TakoInputStream openById(String path, long parentId, long id) throws TakoException {
    return files.openById(path, parentId, id);
  }

  /**
   * Finds the servers that have the blocks of a file with the bytes from {@code start} on. A block
   * has no hosts when the server is alone. One whose bytes are all in the metadata has any of them.
   *
   * @param blockSize bytes by which the file is divided
   * @throws TakoException NOT_FOUND, IS_A_DIRECTORY, PERMISSION_DENIED
   */
  public List<BlockPlaces> blockPlaces(String path, long start, long length, long blockSize)
      throws TakoException {
    long end = length > Long.MAX_VALUE - start ? Long.MAX_VALUE : start + length;
    return new BlockLookup(session, path, blockSize).run(start, end);
  }

  /**
   * Replication of files whose creator names none, as configured, or as the server says. Connects
   * when there is no session; else it is what the server said last, though the connection may have
   * failed since, so that a caller who asks before each file does not wait twice for a server that
   * is gone.
   */
  public int defaultReplication() throws TakoException {
    int configured = config.get(ConfigKeys.REPLICATION);
    if (configured > 0) {
      return configured;
    }
    SessionTerms terms = session.terms();
    if (terms.getClientId() == 0) {
      terms = session.open("replication", "").terms();
    }
    return Math.max(1, terms.getReplication());
  }

  /** Whether the server is alone; else data may be on others. */
  public boolean isAlone() throws TakoException {
    return session.servers().isAlone();
  }

  // ---- server

  /** Space of the server. */
  public Usage usage() throws TakoException {
    SpaceUsage usage =
        session
            .call("usage", "", Request.newBuilder().setGetUsage(GetUsage.getDefaultInstance()))
            .getUsage();
    return new Usage(usage.getCapacity(), usage.getUsed(), usage.getFree());
  }

  /** State and counters of the server. */
  public ServerStatus serverStatus() throws TakoException {
    return session
        .call(
            "status",
            "",
            Request.newBuilder().setGetServerStatus(GetServerStatus.getDefaultInstance()))
        .getServerStatus();
  }

  /** Safe mode, and the files that are open for writing. */
  public Administration administration() {
    return new Administration(session, config);
  }

  /** Reads that took much longer than usual, and were asked of another server, too. */
  public long hedgedReads() {
    return session.hedgedReads().count();
  }

  /** Ends the session. Files still open for writing are closed at what was flushed. */
  @Override
  public void close() {
    idle.close();
    leases.close();
    session.close();
  }
}
