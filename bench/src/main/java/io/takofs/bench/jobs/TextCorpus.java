package io.takofs.bench.jobs;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A text of made-up words with a skewed distribution, and how often each word stands in it: counted
 * while it is written, so independently of what a job later counts.
 *
 * <p>Thread rule: one thread.
 */
final class TextCorpus {
  private static final int VOCABULARY = 20_000;
  private static final String SYLLABLES = "kamosutirenohawekiyoluzi";

  private final Random random;
  private final String[] words = new String[VOCABULARY];
  private final long[] counts = new long[VOCABULARY];

  TextCorpus(long seed) {
    random = new Random(seed);
    for (int i = 0; i < VOCABULARY; i++) {
      words[i] = word(i);
    }
  }

  /** Writes at least {@code bytes} bytes, whole lines. */
  void write(OutputStream out, long bytes) throws IOException {
    StringBuilder line = new StringBuilder(160);
    long written = 0;
    while (written < bytes) {
      line.setLength(0);
      while (line.length() < 100) {
        int rank = rank();
        counts[rank]++;
        line.append(words[rank]).append(' ');
      }
      line.setCharAt(line.length() - 1, '\n');
      byte[] encoded = line.toString().getBytes(StandardCharsets.US_ASCII);
      out.write(encoded);
      written += encoded.length;
    }
  }

  /** The number of times each word was written. */
  Map<String, Long> counts() {
    Map<String, Long> result = new TreeMap<>();
    for (int i = 0; i < VOCABULARY; i++) {
      if (counts[i] > 0) {
        result.merge(words[i], counts[i], Long::sum);
      }
    }
    return result;
  }

  /** Small ranks are far more likely than large ones, roughly as in a language. */
  private int rank() {
    double uniform = random.nextDouble();
    return (int) (VOCABULARY * uniform * uniform * uniform);
  }

  private static String word(int index) {
    StringBuilder text = new StringBuilder();
    int rest = index + 1;
    while (rest > 0) {
      int syllable = rest % (SYLLABLES.length() / 2);
      text.append(SYLLABLES, 2 * syllable, 2 * syllable + 2);
      rest /= SYLLABLES.length() / 2;
    }
    return text.toString();
  }
}
