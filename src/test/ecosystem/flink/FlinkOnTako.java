import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Flink on Tako: a job with state, whose checkpoints are on Tako, fails once and goes on. */
public class FlinkOnTako {
  private static final long NUMBERS = 40_000;
  private static final int KEYS = 4;
  private static final AtomicBoolean FAILED = new AtomicBoolean();
  private static volatile String store;

  public static void main(String[] arguments) throws Exception {
    store = arguments[0] + "/flink/checkpoints";
    Configuration options = new Configuration();
    options.setString("execution.checkpointing.interval", "200 ms");
    options.setString("execution.checkpointing.dir", store);
    options.setString("execution.checkpointing.storage", "filesystem");
    options.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    // State goes into files however small it is.
    options.setString("execution.checkpointing.data-inline-threshold", "0 b");
    options.setString("state.backend.type", "hashmap");
    options.setString("restart-strategy.type", "fixed-delay");
    options.setString("restart-strategy.fixed-delay.attempts", "2");
    options.setString("restart-strategy.fixed-delay.delay", "100 ms");
    StreamExecutionEnvironment flink = StreamExecutionEnvironment.createLocalEnvironment(2, options);
    DataGeneratorSource<Long> source =
        new DataGeneratorSource<>(n -> n, NUMBERS, RateLimiterStrategy.perSecond(8000), Types.LONG);
    long[] last = new long[KEYS];
    try (CloseableIterator<String> sums =
        flink
            .fromSource(source, WatermarkStrategy.noWatermarks(), "numbers")
            .keyBy(n -> n % KEYS)
            .process(new Sum())
            .returns(Types.STRING)
            .executeAndCollect("sums on Tako")) {
      while (sums.hasNext()) {
        String[] sum = sums.next().split(" ");
        int key = Integer.parseInt(sum[0]);
        last[key] = Math.max(last[key], Long.parseLong(sum[1]));
      }
    }
    long total = 0;
    for (long sum : last) {
      total += sum;
    }
    check(FAILED.get(), "the job has failed once, after a checkpoint");
    check(total == NUMBERS * (NUMBERS - 1) / 2, "each number counted once: " + total);
    System.out.println("ok flink: " + NUMBERS + " numbers counted once over a failure, checkpoints on Tako");
  }

  /** Sums by key; fails once, when a checkpoint is complete. */
  private static final class Sum extends KeyedProcessFunction<Long, Long, String> {
    private static final long serialVersionUID = 1;
    private transient ValueState<Long> sum;

    @Override
    public void open(OpenContext context) {
      sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Long.class));
    }

    @Override
    public void processElement(Long n, Context context, Collector<String> out) throws Exception {
      if (n > NUMBERS / 3 && !FAILED.get() && hasCheckpoint() && FAILED.compareAndSet(false, true)) {
        throw new IllegalStateException("fails once, as the test wants");
      }
      long next = (sum.value() == null ? 0 : sum.value()) + n;
      sum.update(next);
      out.collect(n % KEYS + " " + next);
    }

    private static boolean hasCheckpoint() throws Exception {
      Path path = new Path(store);
      FileSystem fs = path.getFileSystem(new org.apache.hadoop.conf.Configuration());
      var found = fs.globStatus(new Path(path, "*/chk-*/_metadata"));
      return found != null && found.length > 0;
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
