import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;

/**
 * Keeps a JVM's compilers, collector and vector code busy on several threads and checks what comes
 * out: {@code java Churn.java SECONDS}. The launcher compiles it first, which is half of the work.
 */
public final class Churn {
  private static final int THREADS = 4;

  public static void main(String[] arguments) throws Exception {
    long endNs = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Future<Long>> rounds = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      long seed = i;
      Callable<Long> work = () -> work(seed, endNs);
      rounds.add(threads.submit(work));
    }
    long done = 0;
    for (Future<Long> round : rounds) {
      done += round.get();
    }
    threads.shutdown();
    System.out.println(done + " rounds");
  }

  private static long work(long seed, long endNs) {
    long rounds = 0;
    do {
      Random random = new Random(seed + rounds);
      int[] numbers = random.ints(20_000).toArray();
      TreeMap<Integer, String> tree = new TreeMap<>();
      StringBuilder text = new StringBuilder();
      for (int number : numbers) {
        tree.put(number, "n" + number);
        text.append(number % 100).append(' ');
      }
      int[] sorted = numbers.clone();
      Arrays.sort(sorted);
      check(Arrays.equals(sorted, tree.keySet().stream().mapToInt(n -> n).toArray())
          || tree.size() < numbers.length, "sorted twice alike");
      String[] words = text.toString().split(" ");
      check(words.length == numbers.length, "as many words as numbers");
      byte[] bytes = text.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
      CRC32C first = new CRC32C();
      first.update(bytes);
      CRC32C second = new CRC32C();
      second.update(bytes, 0, bytes.length / 3);
      second.update(bytes, bytes.length / 3, bytes.length - bytes.length / 3);
      check(first.getValue() == second.getValue(), "one checksum for the same bytes");
      rounds++;
    } while (System.nanoTime() < endNs);
    return rounds;
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
