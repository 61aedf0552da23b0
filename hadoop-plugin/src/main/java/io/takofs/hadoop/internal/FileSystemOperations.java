package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.util.DataChecksum;

/**
 * The common part of TakoFileSystem and TakoFs: a client, and the operations of Hadoop on it.
 *
 * <p>Thread rule: any thread.
 *
 * @param client the connection
 * @param statuses statuses, listings, block locations and summaries
 * @param namespace directories, renames and deletes
 * @param data files' bytes
 * @param attributes permission, owner, times
 * @param leases leases of open files
 * @param acls ACLs
 * @param xattrs extended attributes
 * @param quotas quotas, and content summaries
 * @param safeMode safe mode, in which the server refuses all changes
 * @param handles references to files
 * @param policies storage policies
 */
public record FileSystemOperations(
    TakoClient client,
    StatusOperations statuses,
    NamespaceOperations namespace,
    DataOperations data,
    AttributeOperations attributes,
    LeaseOperations leases,
    AclOperations acls,
    XAttrOperations xattrs,
    QuotaOperations quotas,
    SafeModeOperations safeMode,
    HandleOperations handles,
    StoragePolicyOperations policies)
    implements Closeable {

  /** Hadoop asks that block sizes are multiples of it. */
  private static final int BYTES_PER_CHECKSUM = 512;

  private static final int WRITE_PACKET_BYTES = 64 << 10;
  private static final int FILE_BUFFER_BYTES = 4 << 10;

  public static FileSystemOperations on(
      TakoClient client, URI uri, FileSystem.Statistics statistics) {
    StatusOperations statuses = new StatusOperations(client, uri);
    DataOperations data = new DataOperations(client, statistics);
    return new FileSystemOperations(
        client,
        statuses,
        new NamespaceOperations(client),
        data,
        new AttributeOperations(client),
        new LeaseOperations(client),
        new AclOperations(client.acls()),
        new XAttrOperations(client.xattrs()),
        new QuotaOperations(client),
        new SafeModeOperations(client),
        new HandleOperations(client, data),
        new StoragePolicyOperations(statuses));
  }

  /** A client of the server at {@code uri} for {@code user}. */
  public static TakoClient connect(URI uri, TakoConfig config, String user) throws IOException {
    try {
      return TakoClient.connect(uri, config, user);
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, uri.toString());
    }
  }

  /** The defaults for new files; {@code config} is the client's. */
  public FsServerDefaults serverDefaults(TakoConfig config) throws IOException {
    return new FsServerDefaults(
        config.get(ConfigKeys.BLOCK_SIZE),
        BYTES_PER_CHECKSUM,
        WRITE_PACKET_BYTES,
        defaultReplication(),
        FILE_BUFFER_BYTES,
        false,
        0,
        DataChecksum.Type.CRC32C);
  }

  private short defaultReplication() throws IOException {
    try {
      return (short) client.defaultReplication();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, client.uri().toString());
    }
  }

  /**
   * Returns true if every path has the capability, in addition to those of Hadoop's base classes.
   */
  public static boolean hasPathCapability(String capability) {
    return switch (capability) {
      case CommonPathCapabilities.FS_ACLS,
          CommonPathCapabilities.FS_APPEND,
          CommonPathCapabilities.FS_CHECKSUMS,
          CommonPathCapabilities.FS_PERMISSIONS,
          CommonPathCapabilities.FS_TRUNCATE,
          CommonPathCapabilities.FS_STORAGEPOLICY,
          CommonPathCapabilities.ETAGS_AVAILABLE,
          CommonPathCapabilities.ETAGS_PRESERVED_IN_RENAME,
          CommonPathCapabilities.FS_XATTRS ->
          true;
      default -> false;
    };
  }

  /** Returns true for a capability of FileSystem that FileContext does not have. */
  public static boolean hasFileSystemCapability(String capability) {
    return switch (capability) {
      case CommonPathCapabilities.FS_CONCAT,
          CommonPathCapabilities.FS_MULTIPART_UPLOADER,
          CommonPathCapabilities.FS_PATHHANDLES,
          CommonPathCapabilities.LEASE_RECOVERABLE ->
          true;
      default -> false;
    };
  }

  /** Closes files still being written, then the client. */
  @Override
  public void close() throws IOException {
    try {
      data.close();
    } finally {
      client.close();
    }
  }
}
