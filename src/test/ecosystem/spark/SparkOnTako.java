import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/** Spark on Tako: a partitioned table, and a stream whose checkpoints are on Tako too. */
public class SparkOnTako {
  private static final long ROWS = 200_000;
  private static final int DAYS = 7;

  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    FileSystem fs = FileSystem.get(java.net.URI.create(uri), new org.apache.hadoop.conf.Configuration());
    fs.mkdirs(new Path("/spark/events"));
    SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .appName("Tako")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", uri + "/spark/warehouse")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.dir", uri + "/spark/events")
            .config("spark.sql.sources.partitionOverwriteMode", "dynamic")
            .getOrCreate();
    try {
      table(spark);
      stream(spark, fs);
    } finally {
      spark.stop();
    }
    FileStatus[] events = fs.listStatus(new Path("/spark/events"));
    check(events.length == 1, "one event log, closed: " + List.of(events));
    check(!events[0].getPath().getName().endsWith(".inprogress"), "the event log was renamed");
    System.out.println("ok spark " + spark.version() + ": event log on Tako");
  }

  private static void table(SparkSession spark) {
    Dataset<Row> rows =
        spark
            .range(ROWS)
            .selectExpr("id", "sha2(cast(id as string), 256) as text", "cast(id % " + DAYS + " as int) as day");
    rows.write().partitionBy("day").format("parquet").saveAsTable("measured");
    checkTable(spark, 0);
    // One partition is written again, the others stay.
    rows.where("day = 3").selectExpr("id + " + ROWS + " as id", "text", "day").write().mode("overwrite").insertInto("measured");
    checkTable(spark, ROWS);
    System.out.println("ok spark " + spark.version() + ": partitioned Parquet table, " + ROWS + " rows");
  }

  /** Compares count and sums of every partition with what was written. */
  private static void checkTable(SparkSession spark, long shiftOfDay3) {
    Map<Integer, long[]> expected = new TreeMap<>();
    for (long id = 0; id < ROWS; id++) {
      int day = (int) (id % DAYS);
      long[] sums = expected.computeIfAbsent(day, any -> new long[2]);
      sums[0]++;
      sums[1] += id + (day == 3 ? shiftOfDay3 : 0);
    }
    List<Row> found =
        spark.sql("select day, count(*), sum(id) from measured group by day order by day").collectAsList();
    check(found.size() == DAYS, found.size() + " partitions");
    for (Row row : found) {
      long[] sums = expected.get(row.getInt(0));
      check(row.getLong(1) == sums[0] && row.getLong(2) == sums[1], "partition " + row);
    }
    long wrong =
        spark.sql("select count(*) from measured where text != sha2(cast(id - if(day = 3, " + shiftOfDay3 + ", 0) as string), 256)")
            .first()
            .getLong(0);
    check(wrong == 0, wrong + " rows with other text");
  }

  private static void stream(SparkSession spark, FileSystem fs) throws Exception {
    for (int round = 0; round < 3; round++) {
      // Written elsewhere and moved in: a stream takes whole files only.
      spark.range(round * 1000L, (round + 1) * 1000L).selectExpr("cast(id as string)").coalesce(1)
          .write().mode("overwrite").text("/spark/staged");
      fs.mkdirs(new Path("/spark/in"));
      for (FileStatus file : fs.listStatus(new Path("/spark/staged"), path -> path.getName().startsWith("part"))) {
        check(fs.rename(file.getPath(), new Path("/spark/in/" + round + ".txt")), "moved in");
      }
      // A new query each round goes on from the checkpoint of the last one.
      spark.readStream().format("text").load("/spark/in")
          .selectExpr("cast(value as long) as id")
          .writeStream().format("parquet").option("path", "/spark/out")
          .option("checkpointLocation", "/spark/checkpoint")
          .trigger(Trigger.AvailableNow())
          .start()
          .awaitTermination();
      Row sums = spark.read().parquet("/spark/out").selectExpr("count(*)", "count(distinct id)", "sum(id)").first();
      long rows = (round + 1) * 1000L;
      check(sums.getLong(0) == rows && sums.getLong(1) == rows && sums.getLong(2) == rows * (rows - 1) / 2, "stream after round " + round + ": " + sums);
    }
    System.out.println("ok spark " + spark.version() + ": structured streaming, 3 restarts from its checkpoint");
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
