package io.takofs.sim.cluster;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import io.takofs.sim.Fault;
import io.takofs.sim.SimActor;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimProcess;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A user with a directory of its own: does random operations through a real client, and knows what
 * must be in the directory after each. An operation that fails for a reason that the faults explain
 * may have happened or not; what is there then must be one of the two.
 */
final class SimUser extends SimActor {
  private static final int FILES_MAX = 8;
  private static final long PAUSE_MAX_NS = 20_000_000;

  /** Longer than the life of a session whose client is gone. */
  private static final long FORMER_SESSION_NS = 3_000_000_000L;

  private final SimWorld world;
  private final List<SimUser> others;
  private final String home;
  private final SimAttributes attributes;
  private final Random random;
  private final SimChoices choices;

  private final SimModel model = new SimModel();
  private boolean homeMade;
  private boolean unsure;

  /** Of processes that were killed: what they had sent may still be executed. */
  private final List<Long> formerSessions = new ArrayList<>();

  /** Damaged files that may still be there. */
  private final Set<String> toDelete = new TreeSet<>();

  /** The id of the session; 0 before the first call. */
  private AtomicLong session;

  /** The failure that told an operation of damaged bytes, until it is looked after; or null. */
  private TakoException told;

  private String lastFailure = "none";
  private final Map<Status, Integer> failures = new EnumMap<>(Status.class);
  private TakoClient client;
  private int damagedFiles;
  private int steps;

  SimUser(SimWorld world, List<SimUser> others, String name, int stepCount) {
    super(world.network().scheduler(), name, PAUSE_MAX_NS, stepCount);
    this.world = world;
    this.others = others;
    this.home = "/" + name;
    this.attributes = new SimAttributes(scheduler(), home);
    this.random = new Random(scheduler().random().nextLong());
    this.choices = new SimChoices(random);
  }

  int steps() {
    return steps;
  }

  /** Failures of operations by their reason. */
  Map<Status, Integer> failures() {
    return failures;
  }

  /** Files that could not be read because bytes of theirs had changed by themselves. */
  int damagedFiles() {
    return damagedFiles;
  }

  @Override
  protected SimClock newClock(SimProcess born) {
    return world.newClock(born);
  }

  /** With another session. */
  @Override
  protected void begin() {
    if (session != null) {
      formerSessions.add(session.get());
      unsure = true;
    }
    session = new AtomicLong();
    client = world.connect(process(), clock(), session);
  }

  @Override
  protected void act() {
    SimProcess own = process();
    try {
      if (unsure) {
        lookWhatHappened(own);
      } else {
        countStep();
        steps++;
        step();
        own.checkAlive(); // a step takes some failures for an answer
        model.settle();
      }
    } catch (TakoException e) {
      own.checkAlive();
      switch (e.status()) {
        case DEADLINE_EXCEEDED,
            DISCONNECTED,
            SESSION_EXPIRED,
            UNAVAILABLE,
            LEASE_HELD,
            LEASE_LOST,
            NO_SPACE ->
            doubt(e);
        case CORRUPT -> {
          if (!mayBeDamaged()) {
            throw wrong("unexpected " + e, e);
          }
          told = e;
          doubt(e);
        }
        default -> throw wrong("unexpected " + e, e);
      }
    } catch (IOException e) {
      own.checkAlive();
      throw wrong("unexpected " + e, e);
    }
  }

  private void doubt(TakoException why) {
    unsure = true;
    lastFailure = why.toString();
    failures.merge(why.status(), 1, Integer::sum);
  }

  @Override
  public String toString() {
    return name() + " with " + stepsLeft() + " steps left, last failure: " + lastFailure;
  }

  // ---- operations -------------------------------------------------------------------------------

  private void step() throws IOException {
    if (!homeMade) {
      client.mkdirs(home);
      homeMade = true;
      return;
    }
    int choice = random.nextInt(100);
    List<String> files = SimChoices.paths(model.tree(), true);
    if (choice < 30 || files.isEmpty()) {
      write(files.size() < FILES_MAX ? choices.newPath(model.tree(), home) : choices.pick(files));
    } else if (choice < 40) {
      append(choices.pick(files));
    } else if (choice < 46) {
      truncate(choices.pick(files));
    } else if (choice < 58) {
      rename(files);
    } else if (choice < 63) {
      delete();
    } else if (choice < 66) {
      deleteMany();
    } else if (choice < 72) {
      String path = choices.newPath(model.tree(), home);
      model.begin().put(path, null);
      client.mkdirs(path);
    } else if (choice < 77) {
      attributes.replicate(client, choices.pick(files), random);
    } else if (choice < 84) {
      read(choices.pick(files));
    } else if (choice < 88) {
      world.shared().compete(client, random);
    } else if (choice < 91) {
      attributes.change(client, random.nextInt(4) == 0 ? home : choices.pick(files), random);
    } else if (choice < 92) {
      attributes.limit(client, random);
    } else if (choice < 96) {
      SimUser other = others.get(random.nextInt(others.size()));
      if (other != this) {
        peek(other);
      }
    } else {
      compareAll();
    }
  }

  private void write(String path) throws IOException {
    byte[] content = choices.content();
    model.beginWriting(path, content, 0);
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withOverwrite(true).withCreateParents(false))) {
      model.tree().put(path, new byte[0]);
      pour(out, content, 0);
      if (random.nextInt(6) == 0) {
        out.abort();
        model.abortWriting();
      }
    }
  }

  private void append(String path) throws IOException {
    byte[] old = model.tree().get(path);
    byte[] more = choices.content();
    byte[] content = Arrays.copyOf(old, old.length + more.length);
    System.arraycopy(more, 0, content, old.length, more.length);
    model.beginWriting(path, content, old.length);
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
        model.flushedTo(at);
      }
    }
  }

  private void truncate(String path) throws IOException {
    byte[] old = model.tree().get(path);
    int length = random.nextInt(old.length + 1);
    model.begin().put(path, Arrays.copyOf(old, length));
    client.truncate(path, length);
  }

  private void rename(List<String> files) throws IOException {
    List<String> directories = SimChoices.paths(model.tree(), false);
    boolean directory = !directories.isEmpty() && random.nextInt(3) == 0;
    String source = choices.pick(directory ? directories : files);
    boolean overwrite = !directory && random.nextInt(4) == 0;
    String target = overwrite ? choices.pick(files) : choices.newPath(model.tree(), home);
    if (target.equals(source) || target.startsWith(source + "/")) {
      return;
    }
    Map<String, byte[]> next = model.begin();
    for (String path : List.copyOf(next.keySet())) {
      if (isAtOrBelow(path, source)) {
        next.put(target + path.substring(source.length()), next.remove(path));
      }
    }
    client.rename(source, target, overwrite);
  }

  private void delete() throws IOException {
    List<String> all = new ArrayList<>(model.tree().keySet());
    if (all.isEmpty()) {
      return;
    }
    String victim = choices.pick(all);
    model.begin().keySet().removeIf(path -> isAtOrBelow(path, victim));
    client.delete(victim, true);
  }

  /**
   * Directories before what is in them, so that a call that was executed twice would delete one
   * that must stay; and so many names that it takes more than one log entry.
   */
  private void deleteMany() throws IOException {
    Map<String, byte[]> next = model.begin();
    List<String> names = new ArrayList<>();
    Map<String, Status> expected = new TreeMap<>();
    List<String> deleting = new ArrayList<>();
    model.beginDeleting(deleting);
    for (String path : model.tree().keySet()) {
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
    byte[] expected = model.tree().get(path);
    int from = random.nextInt(expected.length + 1);
    int length = random.nextInt(expected.length - from + 1);
    byte[] actual = new byte[length];
    long file = 0;
    try (TakoInputStream in = client.open(path)) {
      file = in.fileId();
      in.readFully(from, actual, 0, length);
    } catch (TakoException e) {
      checkDamaged(file, e);
      throw e;
    }
    if (!Arrays.equals(actual, Arrays.copyOfRange(expected, from, from + length))) {
      throw wrong(path + " has other bytes between " + from + " and " + (from + length));
    }
  }

  /** Looks at a file of somebody who may just be writing it, or takes it away from them. */
  private void peek(SimUser other) throws IOException {
    List<String> candidates = SimChoices.paths(other.model.tree(), true);
    if (!other.model.writing().isEmpty() && random.nextBoolean()) {
      candidates = List.of(other.model.writing());
    }
    if (candidates.isEmpty()) {
      return;
    }
    String path = choices.pick(candidates);
    long file = 0;
    try {
      if (path.equals(other.model.writing()) && random.nextInt(3) == 0) {
        client.recoverLease(path);
      }
      PathStatus before = client.getStatus(path);
      byte[] content = new byte[Math.toIntExact(before.length())];
      try (TakoInputStream in = client.open(path)) {
        file = in.fileId();
        in.readFully(0, content, 0, content.length);
      }
      PathStatus now = client.getStatus(path);
      if (now.id() == before.id()) {
        String problem = SimTimes.runsBackwards(before, now);
        if (problem != null) {
          throw wrong(path + " " + problem + ": " + now);
        }
        if (now.version() == before.version()) {
          other.checkWasWritten(path, content);
        }
      }
    } catch (TakoException e) {
      if (e.status() == Status.CORRUPT && mayBeDamaged()) {
        checkDamaged(file, e);
        return;
      }
      if (e.status() != Status.NOT_FOUND && e.status() != Status.NOT_A_DIRECTORY) {
        throw e;
      }
    } catch (EOFException e) {
      // It was cut or replaced meanwhile.
    }
  }

  private void checkDamaged(long file, TakoException e) {
    if (e.status() == Status.CORRUPT) {
      tree().checkDamaged(file, e);
    }
  }

  private void checkWasWritten(String path, byte[] content) {
    if (!model.wasWritten(content)) {
      throw wrong(path + " was seen with " + content.length + " bytes that were never in it");
    }
  }

  // ---- checking ---------------------------------------------------------------------------------

  /** Looks at everything, and deletes what cannot be read any more. */
  void deleteAllDamaged() throws IOException {
    if (unsure || mayBeDamaged()) {
      lookWhatHappened(process());
    }
  }

  /** The whole tree against the model, at the end. */
  void checkAll() throws IOException {
    if (homeMade) {
      compareAll();
      attributes.checkCount(client, model.tree().size() + 1);
      client.delete(home, true);
    }
  }

  /** A step failed, or its process died: what is there must be explained by it. */
  private void lookWhatHappened(SimProcess own) throws IOException {
    client.mkdirs(home);
    homeMade = true;
    String writing = model.writing();
    if (!writing.isEmpty() && tree().exists(writing)) {
      client.recoverLease(writing);
    }
    // Calls that this client gave up were overtaken by the first one here, which has a later
    // number.
    endFormerSessions();
    deleteDamaged();
    Set<String> damaged = new TreeSet<>();
    SimTree tree = tree();
    Map<String, byte[]> found = tree.read(mayBeDamaged() ? damaged : null);
    own.checkAlive();
    checkTold(damaged);
    for (String path : damaged) {
      damagedFiles++;
      model.forget(path);
      toDelete.add(path);
    }
    deleteDamaged();
    own.checkAlive();
    String problem = model.problem(found);
    if (problem != null) {
      throw wrong(problem);
    }
    unsure = false;
    model.settle(found);
    checkTimes(tree.statuses());
  }

  /**
   * I25, I26: bytes of which a file's own user was told that they are damaged stay so. What it has
   * not flushed may be lost with the slab that it lay in.
   */
  private void checkTold(Set<String> damaged) {
    boolean isOfUnflushed = told != null && told.getMessage().startsWith("write ");
    if (told != null && !isOfUnflushed && damaged.isEmpty()) {
      throw wrong("everything can be read after all", told);
    }
    told = null;
  }

  /** What processes of this user sent before they were killed is not executed any more. */
  private void endFormerSessions() throws IOException {
    if (!formerSessions.isEmpty() && random.nextBoolean()) {
      clock().parkNanos(this, FORMER_SESSION_NS); // more happens under two sessions
    }
    while (!formerSessions.isEmpty()) {
      long former = formerSessions.get(0);
      if (former != 0) {
        world.endSession(process(), clock(), former);
      }
      formerSessions.remove(0);
    }
  }

  private boolean mayBeDamaged() {
    return world.swarm().has(Fault.FLIP_BIT);
  }

  /** Deletes files that could not be read any more; an attempt that fails may have deleted one. */
  private void deleteDamaged() throws IOException {
    for (String path : List.copyOf(toDelete)) {
      if (tree().exists(path)) {
        client.delete(path, false);
      }
      toDelete.remove(path);
    }
  }

  private SimTree tree() {
    return new SimTree(client, home, world.leader(), this::wrong);
  }

  private void compareAll() throws IOException {
    SimTree tree = tree();
    String difference = SimTree.difference(tree.read(null), model.tree());
    if (difference != null) {
      throw wrong(difference);
    }
    checkTimes(tree.statuses());
  }

  private void checkTimes(List<PathStatus> statuses) {
    for (PathStatus status : statuses) {
      String problem = model.problem(status);
      if (problem != null) {
        throw wrong(problem);
      }
    }
  }

  private static boolean isAtOrBelow(String path, String top) {
    return path.equals(top) || path.startsWith(top + "/");
  }

  private AssertionError wrong(String what) {
    return wrong(what, null);
  }

  private AssertionError wrong(String what, Throwable cause) {
    return new AssertionError(name() + " at " + scheduler().nowNs() + " ns: " + what, cause);
  }
}
