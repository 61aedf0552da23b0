package io.takofs.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.client.internal.session.Session;
import io.takofs.layout.Layout;
import io.takofs.proto.DeleteFiles;
import io.takofs.proto.DeleteResults;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Deletes many files, as many with one call as it takes.
 *
 * <p>Thread rule: one thread.
 */
final class BulkDeletion {
  /** Names of one call, bytes with what frames each: with what frames the call it fits a slot. */
  private static final int BATCH_BYTES =
      Layout.RPC_REQUEST_SLOT_SIZE - Layout.RPC_HEADER_SIZE - 256;

  private static final int NAME_OVERHEAD = 4;

  private final Session session;
  private final String base;
  private final Map<String, Status> failed = new LinkedHashMap<>();

  BulkDeletion(Session session, String base) {
    this.session = session;
    this.base = base;
  }

  Map<String, Status> run(List<String> names) throws TakoException {
    DeleteFiles.Builder batch = DeleteFiles.newBuilder().setBase(base);
    int baseSize = base.getBytes(UTF_8).length;
    int room = BATCH_BYTES - baseSize;
    for (String name : names) {
      if (!UnicodeText.isWellFormed(name)) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            "delete files in "
                + base
                + ": '"
                + name
                + "' has half of a surrogate pair, which no UTF-8 can express");
      }
      int size = name.getBytes(UTF_8).length + NAME_OVERHEAD;
      int count = batch.getNamesCount();
      if (count == Layout.RPC_DELETES_MAX || (size > room && count > 0)) {
        call(batch);
        batch.clearNames();
        room = BATCH_BYTES - baseSize;
      }
      batch.addNames(name);
      room -= size;
    }
    if (batch.getNamesCount() > 0) {
      call(batch);
    }
    return failed;
  }

  private void call(DeleteFiles.Builder batch) throws TakoException {
    DeleteResults results =
        session
            .call("delete files in", base, Request.newBuilder().setDeleteFiles(batch))
            .getDeleteResults();
    for (int i = 0; i < results.getFailedCount(); i++) {
      failed.put(batch.getNames(results.getFailed(i)), results.getReasons(i));
    }
  }
}
