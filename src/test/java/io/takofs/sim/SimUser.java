package io.takofs.sim;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.SimClients;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A user with a directory of its own: does random operations through a real client, and knows what
 * must be in the directory after each. An operation that fails for a reason that the faults explain
 * may have happened or not; what is there then must be one of the two.
 */
final class SimUser {
  private static final int FILES_MAX = 8;
  private static final int BYTES_MAX = 200_000;
  private static final long PAUSE_MAX_NS = 20_000_000;

  private final SimNetwork network;
  private final SimScheduler scheduler;
  private final SimClients clients;
  private final TakoConfig config;
  private final SharedNames shared;
  private final List<SimUser> others;
  private final String name;
  private final String home;
  private final SimAttributes attributes;
  private final Random random;

  /** Paths below home: contents of files, null for directories. */
  private Map<String, byte[]> model = new TreeMap<>();

  /** The contents that may be there instead, while an operation is under way. */
  private Map<String, byte[]> after;

  /** Every content that a file was ever meant to have. */
  private final List<byte[]> written = new ArrayList<>(List.of(new byte[0]));

  /** The file being written: of its content in {@code after}, at least this is there. */
  private String writing = "";

  private int flushed;

  /** Names that one call is deleting, in order; some of the first may be gone already. */
  private List<String> deleting = List.of();

  private boolean homeMade;
  private boolean unsure;
  private String lastFailure = "none";
  private final Map<Status, Integer> failures = new EnumMap<>(Status.class);
  private SimProcess process;
  private TakoClient client;
  private int names;
  private int stepsLeft;
  private int steps;
  private int lives;

  SimUser(
      SimNetwork network,
      SimClients clients,
      TakoConfig config,
      SharedNames shared,
      List<SimUser> others,
      String name,
      int stepCount) {
    this.network = network;
    this.scheduler = network.scheduler();
    this.clients = clients;
    this.config = config;
    this.shared = shared;
    this.others = others;
    this.name = name;
    this.home = "/" + name;
    this.attributes = new SimAttributes(home);
    this.random = new Random(scheduler.random().nextLong());
    this.stepsLeft = stepCount;
  }

  int steps() {
    return steps;
  }

  /** Failures of operations by their reason. */
  Map<Status, Integer> failures() {
    return failures;
  }

  SimProcess process() {
    return process;
  }

  boolean isDone() {
    return stepsLeft == 0;
  }

  /** Begins, or begins anew after a kill: with another process and another session. */
  void start() {
    process = new SimProcess(name + "-" + ++lives);
    client =
        clients.create(
            network.attach(process),
            SimServer.ENDPOINT,
            config,
            "root",
            new SimClock(scheduler, process));
    unsure |= after != null;
    scheduleTurn();
  }

  private void scheduleTurn() {
    scheduler.schedule(process, scheduler.delayNs(1_000, PAUSE_MAX_NS), this::turn);
  }

  private void turn() {
    if (stepsLeft == 0) {
      return;
    }
    try {
      if (unsure) {
        lookWhatHappened();
      } else {
        stepsLeft--;
        steps++;
        step();
        settle(after);
      }
    } catch (TakoException e) {
      switch (e.status()) {
        case DEADLINE_EXCEEDED, SESSION_EXPIRED, UNAVAILABLE, LEASE_HELD, LEASE_LOST, NO_SPACE ->
            doubt(e);
        default -> throw wrong("unexpected " + e, e);
      }
    } catch (IOException e) {
      throw wrong("unexpected " + e, e);
    }
    scheduleTurn();
  }

  private void doubt(TakoException why) {
    unsure = true;
    lastFailure = why.toString();
    failures.merge(why.status(), 1, Integer::sum);
  }

  @Override
  public String toString() {
    return name + " with " + stepsLeft + " steps left, last failure: " + lastFailure;
  }

  private void settle(Map<String, byte[]> outcome) {
    if (outcome != null) {
      model = outcome;
    }
    after = null;
    writing = "";
    flushed = 0;
    deleting = List.of();
  }

  // ---- operations -------------------------------------------------------------------------------

  private void step() throws IOException {
    if (!homeMade) {
      client.mkdirs(home);
      homeMade = true;
      return;
    }
    int choice = random.nextInt(100);
    List<String> files = paths(true);
    if (choice < 30 || files.isEmpty()) {
      write(files.size() < FILES_MAX ? newPath() : pick(files));
    } else if (choice < 40) {
      append(pick(files));
    } else if (choice < 46) {
      truncate(pick(files));
    } else if (choice < 58) {
      rename(files);
    } else if (choice < 63) {
      delete();
    } else if (choice < 66) {
      deleteMany();
    } else if (choice < 72) {
      String path = newPath();
      begin().put(path, null);
      client.mkdirs(path);
    } else if (choice < 84) {
      read(pick(files));
    } else if (choice < 88) {
      shared.compete(client, random);
    } else if (choice < 91) {
      attributes.change(client, random.nextInt(4) == 0 ? home : pick(files), random);
    } else if (choice < 92) {
      attributes.limit(client, random);
    } else if (choice < 96) {
      SimUser other = others.get(random.nextInt(others.size()));
      if (other != this) {
        peek(other);
      }
    } else {
      compare(tree().read(), model);
    }
  }

  private Map<String, byte[]> begin() {
    after = new TreeMap<>(model);
    return after;
  }

  private void write(String path) throws IOException {
    byte[] content = randomContent();
    begin().put(path, content);
    written.add(content);
    writing = path;
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withOverwrite(true).withCreateParents(false))) {
      model.put(path, new byte[0]);
      pour(out, content, 0);
      if (random.nextInt(6) == 0) {
        out.abort();
        after.put(path, Arrays.copyOf(content, flushed));
      }
    }
  }

  private void append(String path) throws IOException {
    byte[] old = model.get(path);
    byte[] more = randomContent();
    byte[] content = Arrays.copyOf(old, old.length + more.length);
    System.arraycopy(more, 0, content, old.length, more.length);
    begin().put(path, content);
    written.add(content);
    writing = path;
    flushed = old.length;
    try (TakoOutputStream out = client.append(path)) {
      pour(out, content, old.length);
    }
  }

  /** Writes the rest of {@code content} in pieces, flushed now and then. */
  private void pour(TakoOutputStream out, byte[] content, int from) throws IOException {
    int at = from;
    while (at < content.length) {
      int length = Math.min(content.length - at, 1 + random.nextInt(60_000));
      out.write(content, at, length);
      at += length;
      if (random.nextInt(3) == 0) {
        out.hflush();
        flushed = at;
      }
    }
  }

  private void truncate(String path) throws IOException {
    byte[] old = model.get(path);
    int length = random.nextInt(old.length + 1);
    begin().put(path, Arrays.copyOf(old, length));
    client.truncate(path, length);
  }

  private void rename(List<String> files) throws IOException {
    List<String> directories = paths(false);
    boolean directory = !directories.isEmpty() && random.nextInt(3) == 0;
    String source = pick(directory ? directories : files);
    boolean overwrite = !directory && random.nextInt(4) == 0;
    String target = overwrite ? pick(files) : newPath();
    if (target.equals(source) || target.startsWith(source + "/")) {
      return;
    }
    Map<String, byte[]> next = begin();
    for (String path : List.copyOf(next.keySet())) {
      if (isAtOrBelow(path, source)) {
        next.put(target + path.substring(source.length()), next.remove(path));
      }
    }
    client.rename(source, target, overwrite);
  }

  private void delete() throws IOException {
    List<String> all = new ArrayList<>(model.keySet());
    if (all.isEmpty()) {
      return;
    }
    String victim = pick(all);
    begin().keySet().removeIf(path -> isAtOrBelow(path, victim));
    client.delete(victim, true);
  }

  /**
   * Directories before what is in them, so that a call that was executed twice would delete one
   * that must stay; and so many names that it takes more than one log entry.
   */
  private void deleteMany() throws IOException {
    Map<String, byte[]> next = begin();
    List<String> names = new ArrayList<>();
    Map<String, Status> expected = new TreeMap<>();
    deleting = new ArrayList<>();
    for (String path : model.keySet()) {
      for (int i = random.nextInt(12); i > 0; i--) {
        names.add("nothing" + i);
      }
      if (random.nextBoolean()) {
        String name = path.substring(home.length() + 1);
        names.add(name);
        if (next.keySet().stream().anyMatch(other -> other.startsWith(path + "/"))) {
          expected.put(name, Status.NOT_EMPTY);
        } else {
          next.remove(path);
          deleting.add(path);
        }
      }
    }
    Map<String, Status> failed = client.deleteFiles(home, names);
    if (!failed.equals(expected)) {
      throw wrong("could not be deleted: " + failed + ", expected " + expected);
    }
  }

  private void read(String path) throws IOException {
    byte[] expected = model.get(path);
    int from = random.nextInt(expected.length + 1);
    int length = random.nextInt(expected.length - from + 1);
    byte[] actual = new byte[length];
    try (TakoInputStream in = client.open(path)) {
      in.readFully(from, actual, 0, length);
    }
    if (!Arrays.equals(actual, Arrays.copyOfRange(expected, from, from + length))) {
      throw wrong(path + " has other bytes between " + from + " and " + (from + length));
    }
  }

  /** Looks at a file of somebody who may just be writing it, or takes it away from them. */
  private void peek(SimUser other) throws IOException {
    List<String> candidates = other.paths(true);
    if (!other.writing.isEmpty() && random.nextBoolean()) {
      candidates = List.of(other.writing);
    }
    if (candidates.isEmpty()) {
      return;
    }
    String path = pick(candidates);
    try {
      if (path.equals(other.writing) && random.nextInt(3) == 0) {
        client.recoverLease(path);
      }
      PathStatus before = client.getStatus(path);
      byte[] content = new byte[Math.toIntExact(before.length())];
      try (TakoInputStream in = client.open(path)) {
        in.readFully(0, content, 0, content.length);
      }
      PathStatus now = client.getStatus(path);
      if (now.id() == before.id() && now.version() == before.version()) {
        other.checkWasWritten(path, content);
      }
    } catch (TakoException e) {
      if (e.status() != Status.NOT_FOUND && e.status() != Status.NOT_A_DIRECTORY) {
        throw e;
      }
    } catch (EOFException e) {
      // It was cut or replaced meanwhile.
    }
  }

  private void checkWasWritten(String path, byte[] content) {
    for (byte[] whole : written) {
      if (whole.length >= content.length
          && Arrays.equals(whole, 0, content.length, content, 0, content.length)) {
        return;
      }
    }
    throw wrong(path + " was seen with " + content.length + " bytes that were never in it");
  }

  // ---- checking ---------------------------------------------------------------------------------

  /** The whole tree against the model, at the end. */
  void checkAll() throws IOException {
    if (unsure) {
      lookWhatHappened();
    }
    if (homeMade) {
      compare(tree().read(), model);
      attributes.checkCount(client, model.size() + 1);
      client.delete(home, true);
    }
  }

  /** A step failed, or its process died: what is there must be explained by it. */
  private void lookWhatHappened() throws IOException {
    client.mkdirs(home);
    homeMade = true;
    if (!writing.isEmpty() && tree().exists(writing)) {
      client.recoverLease(writing);
    }
    Map<String, byte[]> found = tree().read();
    String wrongBefore = SimTree.difference(found, model);
    String wrongAfter = after == null ? wrongBefore : SimTree.difference(found, after);
    if (wrongBefore != null
        && wrongAfter != null
        && !isPartlyWritten(found)
        && !SimTree.isPartlyDeleted(found, model, deleting)) {
      throw wrong(
          "after a failure neither the state before it is there ("
              + wrongBefore
              + ") nor the one after it ("
              + wrongAfter
              + ")");
    }
    if (flushed > 0 && !isPartlyWritten(found)) {
      throw wrong("flushed bytes of " + writing + " are lost");
    }
    unsure = false;
    settle(found);
  }

  private boolean isPartlyWritten(Map<String, byte[]> found) {
    byte[] content = found.get(writing);
    if (writing.isEmpty() || content == null) {
      return false;
    }
    byte[] whole = after.get(writing);
    TreeMap<String, byte[]> others = new TreeMap<>(after);
    others.put(writing, content);
    return content.length >= flushed
        && content.length <= whole.length
        && Arrays.equals(content, Arrays.copyOf(whole, content.length))
        && SimTree.difference(found, others) == null;
  }

  private SimTree tree() {
    return new SimTree(client, home, this::wrong);
  }

  private void compare(Map<String, byte[]> found, Map<String, byte[]> expected) {
    String difference = SimTree.difference(found, expected);
    if (difference != null) {
      throw wrong(difference);
    }
  }

  // ---- chance -----------------------------------------------------------------------------------

  private List<String> paths(boolean files) {
    List<String> paths = new ArrayList<>();
    model.forEach(
        (path, content) -> {
          if ((content != null) == files) {
            paths.add(path);
          }
        });
    return paths;
  }

  private String pick(List<String> paths) {
    return paths.get(random.nextInt(paths.size()));
  }

  private String newPath() {
    List<String> parents = paths(false);
    parents.add(home);
    return pick(parents) + "/n" + ++names;
  }

  private byte[] randomContent() {
    int bound = new int[] {1, 100, 2049, 4097, 70_000, BYTES_MAX}[random.nextInt(6)];
    byte[] content = new byte[random.nextInt(bound)];
    random.nextBytes(content);
    return content;
  }

  private static boolean isAtOrBelow(String path, String top) {
    return path.equals(top) || path.startsWith(top + "/");
  }

  private AssertionError wrong(String what) {
    return wrong(what, null);
  }

  private AssertionError wrong(String what, Throwable cause) {
    return new AssertionError(name + " at " + scheduler.nowNs() + " ns: " + what, cause);
  }
}
