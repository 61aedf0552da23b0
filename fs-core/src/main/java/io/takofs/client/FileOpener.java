package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.OpenOptions.ReadPattern;
import io.takofs.client.internal.file.FileAccess;
import io.takofs.client.internal.file.FileReader;
import io.takofs.client.internal.file.FileWriter;
import io.takofs.client.internal.session.LeaseKeeper;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Append;
import io.takofs.proto.Create;
import io.takofs.proto.Request;
import java.util.Set;

/**
 * Makes the streams of files.
 *
 * <p>Thread rule: any thread.
 */
final class FileOpener {
  private final Session session;
  private final LeaseKeeper leases;
  private final TakoConfig config;

  FileOpener(Session session, LeaseKeeper leases, TakoConfig config) {
    this.session = session;
    this.leases = leases;
    this.config = config;
  }

  /** See {@link TakoClient#create}. */
  TakoOutputStream create(String path, CreateOptions options) throws TakoException {
    Request.Builder request =
        Request.newBuilder()
            .setCreate(
                Create.newBuilder()
                    .setPath(path)
                    .setPermission(options.permission())
                    .setUnmaskedPermission(options.unmaskedPermission())
                    .setOverwrite(options.overwrite())
                    .setCreateParents(options.createParents())
                    .setReplication(
                        options.replication() > 0
                            ? options.replication()
                            : config.get(ConfigKeys.REPLICATION))
                    .setBlockSize(
                        options.blockSize() > 0
                            ? options.blockSize()
                            : config.get(ConfigKeys.BLOCK_SIZE))
                    .setGrantBytes(FileWriter.grantFor(options.expectedLength())));
    return writer("create", path, request);
  }

  /** See {@link TakoClient#append}. */
  TakoOutputStream append(String path) throws TakoException {
    return writer(
        "append", path, Request.newBuilder().setAppend(Append.newBuilder().setPath(path)));
  }

  private TakoOutputStream writer(String operation, String path, Request.Builder request)
      throws TakoException {
    Set<DataZone> before = session.servers().openZones();
    SessionReply opened = session.call(operation, path, request, null);
    LeaseKeeper.Lease lease = leases.keep(opened, path);
    TakoOutputStream out = null;
    try {
      FileAccess access = FileAccess.forWriter(session, config, opened, before, path);
      FileWriter file =
          FileWriter.open(session, access, path, opened, session.terms().getInlineMax());
      out = new TakoOutputStream(file, path, lease);
      return out;
    } finally {
      if (out == null) {
        lease.abandon();
      }
    }
  }

  /** See {@link TakoClient#open(String, OpenOptions)}. */
  TakoInputStream open(String path, OpenOptions options) throws TakoException {
    FileAccess access = FileAccess.forReader(session, config, path);
    FileReader reader = FileReader.open(session, access, path, options.start());
    return new TakoInputStream(reader, options.pattern());
  }

  /** See {@link TakoClient#openById}. */
  TakoInputStream openById(String path, long parentId, long id) throws TakoException {
    FileAccess access = FileAccess.forReader(session, config, path);
    FileReader reader = FileReader.openById(session, access, path, parentId, id);
    return new TakoInputStream(reader, ReadPattern.ADAPTIVE);
  }
}
