package io.takofs.bench.log;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One of the two processes: a thread that runs the operations of its clients, and follows the other
 * server. It sleeps between runs. Its input says where the other one is, and then what to run, and
 * which parts of that count.
 *
 * <p>Thread rule: one thread.
 */
final class LogServer {
  /** The prefix of every line that this process answers with. */
  static final String ANSWER = "log-server ";

  /** The line that ends a process, as the end of its input does; it answers the same. */
  static final String END = "end";

  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

  private final LogNode node;
  private final KeyValueTable followed;
  private final boolean yields; // to the threads of the transport
  private final RunWindows windows;
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final PutClients clients;

  private LogServer(int number, LogNode node, int objects, boolean yields) throws TakoException {
    this.node = node;
    this.yields = yields;
    this.windows = new RunWindows(names(), yields);
    this.followed = new KeyValueTable(objects);
    this.clients =
        new PutClients(new KeyValueTable(objects), new ZipfDraws(objects, number), number, windows);
    clients.load(objects);
    node.setCommitted(clients);
  }

  /** Entry point of a process that {@link LogProcess} starts. */
  public static void main(String[] arguments) throws IOException {
    int number = Integer.parseInt(arguments[0]);
    FrameWay way = FrameWay.valueOf(arguments[1]);
    Path directory = Path.of(arguments[3]);
    int objects = Integer.parseInt(arguments[4]);
    int slots = Integer.parseInt(arguments[5]);
    try (LogNode node =
        new LogNode(
            number, way, BenchTransports.open(arguments[2], directory), directory, slots, slots)) {
      new LogServer(number, node, objects, BenchTransports.hasThreads(arguments[2])).serve();
    }
    System.exit(0);
  }

  private static String[] names() {
    return Stream.concat(Stream.of("puts", "gets"), Arrays.stream(FollowerCosts.names()))
        .toArray(String[]::new);
  }

  private long[] totals() {
    long[] costs = node.costs().totals();
    long[] totals = new long[2 + costs.length];
    totals[0] = clients.puts();
    totals[1] = clients.gets();
    System.arraycopy(costs, 0, totals, 2, costs.length);
    return totals;
  }

  private void serve() throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, "bench-log-input");
    reader.setDaemon(true);
    reader.start();
    out.println(ANSWER + node.endpoint());
    node.connect(next());
    while (!node.leads() && !END.equals(lines.peek())) {
      idle();
    }
    out.println(ANSWER + "leads");
    String line = next();
    while (!line.equals(END)) {
      Load load = Load.parse(line);
      if (load.fresh()) {
        windows.forget();
      }
      run(load);
      out.println(ANSWER + windows.line());
      line = next();
      if (!line.equals(END)) {
        windows.keep(kept(line));
        out.println(ANSWER + windows.report().line());
        line = next();
      }
    }
    out.println(ANSWER + END);
    Interrupts.join(reader); // the other server must not lose this one before it ends, too
  }

  /** Reads the input. Whoever started this process has ended when there is no more. */
  private void read() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      System.err.println("no input any more: " + e);
    }
    lines.add(END);
  }

  /** The next line of the input; serves the other server until it comes. */
  private String next() throws IOException {
    String line = lines.poll();
    while (line == null) {
      idle();
      line = lines.poll();
    }
    return line;
  }

  /** The parts for which {@code line} has a 1. */
  static BitSet kept(String line) {
    BitSet kept = new BitSet();
    for (int i = 0; i < line.length(); i++) {
      kept.set(i, line.charAt(i) == '1');
    }
    return kept;
  }

  private void idle() throws TakoException {
    node.serve(System.nanoTime());
    node.poll();
    LockSupport.parkNanos(PAUSE_NS);
  }

  private void run(Load load) throws TakoException {
    node.setApplied(load.applied() ? this::apply : null);
    while (System.nanoTime() - load.startNs() < 0) {
      idle();
    }
    long counted = load.startNs() + load.warmUpNs();
    for (long now = System.nanoTime(); now - counted < 0; now = System.nanoTime()) {
      turn(load, now);
    }
    windows.begin(counted, load.countedNs(), totals());
    boolean more = true;
    while (more) {
      long now = System.nanoTime();
      more = !windows.isOver(now) || windows.next(now, totals());
      turn(load, now);
    }
    Load nothing = new Load(true, 0, 0, load.applied(), 0, 0, 0);
    long end = System.nanoTime() + TIMEOUT_NS;
    while (clients.waiting() > 0) {
      long now = System.nanoTime();
      turn(nothing, now);
      if (now - end > 0) {
        throw new IllegalStateException(
            clients.waiting() + " puts were never committed; " + node.describe());
      }
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // no result depends on who runs next
  private void turn(Load load, long now) throws TakoException {
    node.serve(now);
    if (load.clients() > 0) {
      clients.operate(node.leader().log(), load.clients(), load.readPercent(), now);
    }
    if (clients.waiting() > 0) {
      node.poll();
    }
    if (yields) {
      Thread.yield();
    }
  }

  private void apply(long index, long term, ByteBuffer payload) {
    if (payload.remaining() == KeyValueTable.ENTRY_SIZE) {
      followed.put(payload.order(ByteOrder.LITTLE_ENDIAN), 0);
    }
  }
}
