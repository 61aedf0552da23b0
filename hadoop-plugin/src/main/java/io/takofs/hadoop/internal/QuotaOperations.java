package io.takofs.hadoop.internal;

import io.takofs.client.Quotas;
import io.takofs.client.TakoClient;
import io.takofs.proto.QuotaStatus;
import java.io.IOException;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;

/**
 * Quotas of directories and the usage they limit. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class QuotaOperations {
  /** The value that leaves a limit as it is, as in HDFS. */
  private static final long AS_IT_IS = Long.MAX_VALUE;

  private final TakoClient client;

  QuotaOperations(TakoClient client) {
    this.client = client;
  }

  /**
   * Sets limits, as HDFS does: -1 ends one, {@link Long#MAX_VALUE} leaves it.
   *
   * @throws IllegalArgumentException for a value that is not a valid limit
   */
  public void set(Path path, long names, long space) throws IOException {
    boolean namesFit = names > 0 || names == Quotas.NONE;
    boolean spaceFits = space >= 0 || space == Quotas.NONE;
    if (!namesFit || !spaceFits) {
      throw new IllegalArgumentException(
          path + ": invalid values for quota: " + names + " and " + space);
    }
    Quotas quotas = client.quotas();
    Call.to(
        path,
        name -> {
          if (names != AS_IT_IS && space != AS_IT_IS) {
            quotas.set(name, names, space);
          } else if (names != AS_IT_IS) {
            quotas.setNames(name, names);
          } else if (space != AS_IT_IS) {
            quotas.setSpace(name, space);
          }
          return null;
        });
  }

  /** All space is of one kind. */
  public static UnsupportedOperationException byStorageType(Path path, StorageType type) {
    return new UnsupportedOperationException(
        path + ": no quota of type " + type + ": Tako has one kind of storage; use setQuota");
  }

  public ContentSummary contentSummary(Path path) throws IOException {
    io.takofs.client.ContentSummary summary = Call.to(path, client::contentSummary);
    QuotaStatus quota = Call.to(path, client.quotas()::get);
    return new ContentSummary.Builder()
        .length(summary.length())
        .fileCount(summary.fileCount())
        .directoryCount(summary.directoryCount())
        .spaceConsumed(summary.spaceConsumed())
        .quota(names(quota))
        .spaceQuota(space(quota))
        .build();
  }

  /**
   * The usage counted for the quota if the directory has one; else the usage from a content
   * summary.
   */
  public QuotaUsage usage(Path path) throws IOException {
    QuotaStatus quota = Call.to(path, client.quotas()::get);
    if (!quota.hasNamesUsed()) {
      return contentSummary(path);
    }
    return new QuotaUsage.Builder()
        .fileAndDirectoryCount(quota.getNamesUsed())
        .spaceConsumed(quota.getSpaceUsed())
        .quota(names(quota))
        .spaceQuota(space(quota))
        .build();
  }

  private static long names(QuotaStatus quota) {
    return quota.hasNames() ? quota.getNames() : Quotas.NONE;
  }

  private static long space(QuotaStatus quota) {
    return quota.hasSpace() ? quota.getSpace() : Quotas.NONE;
  }
}
