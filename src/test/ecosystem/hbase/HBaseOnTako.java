import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Rows whose bytes follow from their number.
 *
 * <p>{@code create N} makes the table and puts rows 0 to N, flushing in the middle; {@code put FROM
 * TO} puts more; {@code check N} reads all of them and compares every byte.
 */
public class HBaseOnTako {
  private static final TableName NAME = TableName.valueOf("rows");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int BATCH = 100;

  public static void main(String[] arguments) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt("hbase.client.retries.number", 50);
    conf.setInt("hbase.client.operation.timeout", 180_000);
    conf.setInt("hbase.client.meta.operation.timeout", 180_000);
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      switch (arguments[0]) {
        case "create" -> create(connection, Long.parseLong(arguments[1]));
        case "put" -> put(connection, Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
        case "check" -> check(connection, Long.parseLong(arguments[1]));
        default -> throw new IllegalArgumentException(arguments[0]);
      }
    }
  }

  private static void create(Connection connection, long rows) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build(),
          new byte[][] {key(rows / 2)});
      put(connection, 0, rows / 2);
      admin.flush(NAME);
      put(connection, rows / 2, rows);
    }
  }

  private static void put(Connection connection, long from, long to) throws Exception {
    try (Table table = connection.getTable(NAME)) {
      for (long row = from; row < to; row += BATCH) {
        List<Put> batch = new ArrayList<>();
        for (long each = row; each < Math.min(row + BATCH, to); each++) {
          batch.add(new Put(key(each)).addColumn(FAMILY, COLUMN, value(each)));
        }
        table.put(batch); // returns when the log has them
      }
    }
    System.out.println("ok hbase: rows " + from + " to " + to + " were acknowledged");
  }

  private static void check(Connection connection, long rows) throws Exception {
    long next = 0;
    try (Table table = connection.getTable(NAME);
        ResultScanner scanner = table.getScanner(new Scan().setCaching(1000))) {
      for (Result result : scanner) {
        if (!Arrays.equals(result.getRow(), key(next))
            || !Arrays.equals(result.getValue(FAMILY, COLUMN), value(next))) {
          throw new AssertionError("row " + next + " is " + result);
        }
        next++;
      }
    }
    if (next != rows) {
      throw new AssertionError(next + " rows of " + rows);
    }
    System.out.println("ok hbase: " + rows + " rows read back, byte for byte");
  }

  private static byte[] key(long row) {
    return Bytes.toBytes(String.format("%012d", row));
  }

  /** 200 bytes. */
  private static byte[] value(long row) throws Exception {
    byte[] seed = MessageDigest.getInstance("SHA-256").digest(Bytes.toBytes(row));
    byte[] value = new byte[200];
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) (seed[i % seed.length] + i);
    }
    return value;
  }
}
