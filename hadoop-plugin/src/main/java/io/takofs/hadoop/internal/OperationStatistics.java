package io.takofs.hadoop.internal;

import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/**
 * Counts and durations of each operation of a file system, under Hadoop's names; failures are
 * counted separately.
 *
 * <p>Thread rule: any thread.
 */
public final class OperationStatistics extends StorageStatistics {
  private static final String NAME = "TakoOperations";

  private final IOStatisticsStore store =
      IOStatisticsBinding.iostatisticsStore()
          .withDurationTracking(
              StoreStatisticNames.OP_ACCESS,
              StoreStatisticNames.OP_APPEND,
              StoreStatisticNames.OP_CREATE,
              StoreStatisticNames.OP_DELETE,
              StoreStatisticNames.OP_GET_CONTENT_SUMMARY,
              StoreStatisticNames.OP_GET_FILE_CHECKSUM,
              StoreStatisticNames.OP_GET_FILE_STATUS,
              StoreStatisticNames.OP_GET_STATUS,
              StoreStatisticNames.OP_LIST_LOCATED_STATUS,
              StoreStatisticNames.OP_LIST_STATUS,
              StoreStatisticNames.OP_MKDIRS,
              StoreStatisticNames.OP_OPEN,
              StoreStatisticNames.OP_RENAME,
              StoreStatisticNames.OP_SET_OWNER,
              StoreStatisticNames.OP_SET_PERMISSION,
              StoreStatisticNames.OP_SET_TIMES,
              StoreStatisticNames.OP_TRUNCATE)
          .build();

  public OperationStatistics() {
    super(NAME);
  }

  /** Does {@code work}, counting it as {@code operation}. */
  public <T> T timed(String operation, CallableRaisingIOE<T> work) throws IOException {
    return IOStatisticsBinding.trackDuration(store, operation, work);
  }

  /** As {@link #timed}, for an operation without a result. */
  public void run(String operation, InvocationRaisingIOE work) throws IOException {
    IOStatisticsBinding.trackDurationOfInvocation(store, operation, work);
  }

  /** Counts and durations. */
  public IOStatistics durations() {
    return store;
  }

  @Override
  public Iterator<LongStatistic> getLongStatistics() {
    return store.counters().entrySet().stream()
        .map(counter -> new LongStatistic(counter.getKey(), counter.getValue()))
        .iterator();
  }

  @Override
  public Long getLong(String key) {
    return store.counters().get(key);
  }

  @Override
  public boolean isTracked(String key) {
    Map<String, Long> counters = store.counters();
    return counters.containsKey(key);
  }

  @Override
  public void reset() {
    store.reset();
  }
}
