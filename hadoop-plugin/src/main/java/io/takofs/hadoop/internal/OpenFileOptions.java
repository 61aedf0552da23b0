package io.takofs.hadoop.internal;

import io.takofs.client.OpenOptions;
import io.takofs.client.OpenOptions.ReadPattern;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.AbstractFSBuilderImpl;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.util.LambdaUtils;

/**
 * The options of the builder of {@code openFile}. Length and status of the file are ignored,
 * because one call opens the file and returns the places of its bytes. The end of a split is
 * ignored, because read-ahead is bounded.
 *
 * <p>The names are Hadoop's; its constants for them are newer than the oldest Hadoop we work with.
 */
public final class OpenFileOptions {
  private static final String PREFIX = "fs.option.openfile.";
  private static final String READ_POLICY = PREFIX + "read.policy";
  private static final String SPLIT_START = PREFIX + "split.start";
  private static final String BUFFER_SIZE = PREFIX + "buffer.size";

  private static final Set<String> KNOWN =
      Set.of(
          READ_POLICY,
          SPLIT_START,
          BUFFER_SIZE,
          PREFIX + "length",
          PREFIX + "split.end",
          PREFIX + "footer.cache");

  private OpenFileOptions() {}

  /** Opens a file as it is told. */
  @FunctionalInterface
  public interface Opener {
    FSDataInputStream open(int bufferSize, OpenOptions options) throws IOException;
  }

  /**
   * The result of {@code opener}, or its failure.
   *
   * @throws IllegalArgumentException for a mandatory key that is not known
   */
  public static CompletableFuture<FSDataInputStream> open(
      Path path, OpenFileParameters parameters, Opener opener) throws IOException {
    OpenOptions options = of(path, parameters);
    int bufferSize = bufferSize(parameters);
    return LambdaUtils.eval(new CompletableFuture<>(), () -> opener.open(bufferSize, options));
  }

  /** The client's options to open the file. */
  private static OpenOptions of(Path path, OpenFileParameters parameters) {
    AbstractFSBuilderImpl.rejectUnknownMandatoryKeys(
        parameters.getMandatoryKeys(), KNOWN, "for " + path);
    Configuration options = parameters.getOptions();
    return OpenOptions.DEFAULT
        .withPattern(pattern(options.getTrimmedStrings(READ_POLICY)))
        .withStart(number(options, SPLIT_START, 0));
  }

  /** Bytes that small reads gather. */
  private static int bufferSize(OpenFileParameters parameters) {
    long wanted = number(parameters.getOptions(), BUFFER_SIZE, parameters.getBufferSize());
    return (int) Math.max(0, Math.min(wanted, 16 << 20));
  }

  /** The first policy that is known counts: callers name a special one and then a general one. */
  private static ReadPattern pattern(String... policies) {
    for (String policy : policies) {
      switch (policy.toLowerCase(Locale.ROOT)) {
        case "random", "vector", "columnar", "orc", "parquet", "hbase" -> {
          return ReadPattern.RANDOM;
        }
        case "sequential", "whole-file", "avro", "csv", "json" -> {
          return ReadPattern.SEQUENTIAL;
        }
        case "adaptive", "default" -> {
          return ReadPattern.ADAPTIVE;
        }
        default -> {
          // A policy of a later Hadoop, or of another store.
        }
      }
    }
    return ReadPattern.ADAPTIVE;
  }

  /** Some callers pass a floating-point number; one that is none is a hint that is not taken. */
  private static long number(Configuration options, String key, long otherwise) {
    String text = options.getTrimmed(key);
    try {
      return text == null ? otherwise : (long) Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }
}
