import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.DriverFactory;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.session.SessionState;

/** Hive on Tako: tables whose files are on Tako, filled by one statement and read by others. */
public class HiveOnTako {
  private static final int ROWS = 5000;

  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    String work = arguments[1];
    HiveConf conf = new HiveConf(new Configuration(), HiveOnTako.class);
    conf.set("javax.jdo.option.ConnectionURL", "jdbc:derby:;databaseName=" + work + "/metastore;create=true");
    conf.set("datanucleus.schema.autoCreateAll", "true");
    conf.set("hive.metastore.schema.verification", "false");
    conf.set("hive.metastore.warehouse.dir", uri + "/hive/managed");
    conf.set("hive.metastore.warehouse.external.dir", uri + "/hive/external");
    conf.set("hive.exec.scratchdir", uri + "/tmp/hive");
    conf.set("hive.exec.local.scratchdir", work + "/scratch");
    conf.set("hive.execution.engine", "mr");
    conf.set("mapreduce.framework.name", "local");
    conf.set("hive.support.concurrency", "false");
    conf.set("hive.txn.manager", "org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager");
    conf.set("hive.stats.autogather", "false");
    conf.set("hive.security.authorization.enabled", "false");
    conf.set("hive.vectorized.execution.enabled", "false");
    conf.set("hive.metastore.event.db.notification.api.auth", "false");
    conf.set("hive.notification.event.poll.interval", "0s");
    SessionState.start(conf);

    StringBuilder rows = new StringBuilder();
    long sum = 0;
    for (int row = 0; row < ROWS; row++) {
      rows.append(row).append('\t').append("name-").append(row * 31).append('\n');
      sum += row;
    }
    java.nio.file.Path text = java.nio.file.Files.writeString(java.nio.file.Path.of(work, "rows.tsv"), rows);

    run(conf, "create external table lines (id int, name string) row format delimited fields terminated by '\\t' stored as textfile");
    run(conf, "load data local inpath '" + text + "' into table lines");
    run(conf, "create external table days (id int, name string) partitioned by (day int) stored as parquet");
    run(conf, "set hive.exec.dynamic.partition.mode=nonstrict");
    run(conf, "insert into table days partition (day) select id, name, id % 3 from lines");
    check(run(conf, "show partitions days").size() == 3, "three partitions");
    List<String> all = run(conf, "select id, name from days");
    check(all.size() == ROWS, all.size() + " rows");
    for (String row : all) {
      String[] columns = row.split("\t");
      check(columns[1].equals("name-" + Integer.parseInt(columns[0]) * 31), "row " + row);
    }
    check(run(conf, "select sum(id), count(*) from days").equals(List.of(sum + "\t" + ROWS)), "sums");
    check(run(conf, "select count(*) from days where day = 1").equals(List.of("" + (ROWS + 1) / 3)), "one partition");
    run(conf, "insert overwrite table days partition (day = 1) select id, name from lines where id = 1");
    check(run(conf, "select id from days where day = 1").equals(List.of("1")), "the partition written again");
    run(conf, "drop table lines");
    System.out.println("ok hive: partitioned Parquet table of " + ROWS + " rows written and read back");
    System.exit(0); // Hive's threads go on
  }

  private static List<String> run(HiveConf conf, String statement) throws Exception {
    if (statement.startsWith("set ")) {
      String[] pair = statement.substring(4).split("=");
      conf.set(pair[0], pair[1]);
      SessionState.get().getConf().set(pair[0], pair[1]);
      return List.of();
    }
    IDriver driver = DriverFactory.newDriver(SessionState.get().getConf());
    try {
      driver.run(statement);
      List<String> rows = new ArrayList<>();
      driver.setMaxRows(10 * ROWS);
      driver.getResults(rows);
      return rows;
    } finally {
      driver.close();
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
