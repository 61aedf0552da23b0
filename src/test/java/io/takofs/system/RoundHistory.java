package io.takofs.system;

import io.takofs.client.TakoClient;
import io.takofs.history.GoChecker;
import io.takofs.history.HistoryCheck;
import io.takofs.history.HistoryOperation;
import io.takofs.history.HistoryReader;
import io.takofs.history.HistoryRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * What several clients do in one round of a test, and whether it looks as if one namespace had done
 * one call after the other. The record is deleted unless something is wrong with it.
 *
 * <p>Thread rule: one thread.
 */
final class RoundHistory implements AutoCloseable {
  private final List<TakoClient> clients;
  private final String home;
  private final Duration patience;
  private final Duration limit;
  private final Path file;
  private final HistoryRecorder recorder;
  private final RecordedLoad load;

  /**
   * Begins.
   *
   * @param clients that make the calls; they stay their owner's
   * @param home directory of the paths, which nobody else has used
   * @param patience no call may fail earlier because of a server
   * @param limit of whatever is waited for
   */
  RoundHistory(
      List<TakoClient> clients, String home, Duration patience, Duration limit, Random random)
      throws IOException {
    this.clients = List.copyOf(clients);
    this.home = home;
    this.patience = patience;
    this.limit = limit;
    this.file =
        Files.createDirectories(Path.of("target/histories"))
            .resolve(home.substring(1) + "-" + ProcessHandle.current().pid() + ".jsonl");
    clients.get(0).mkdirs(home);
    this.recorder = new HistoryRecorder(file);
    this.load = new RecordedLoad(clients, recorder, random, home, patience);
  }

  /** Until so many more operations have ended; fails when a client failed. */
  void letThemWork(int operations) throws Exception {
    load.letThemWork(operations, limit);
  }

  /** Ends it, with all that is there at the end; checks it, and returns how many calls it has. */
  int finish() throws Exception {
    load.stop();
    for (int reader = 0; reader < clients.size(); reader++) {
      RecordedCalls calls =
          new RecordedCalls(clients.get(reader), recorder, clients.size() + reader, patience);
      for (String path : load.paths()) {
        calls.read(path);
        calls.stat(path);
      }
    }
    recorder.close();
    List<HistoryOperation> history = HistoryReader.read(file);
    Optional<GoChecker> go = GoChecker.build();
    GoChecker.Answer answer =
        go.isPresent() ? go.get().check(List.of(file)) : new GoChecker.Answer(0, "");
    try {
      HistoryCheck.check(history);
    } catch (AssertionError e) {
      throw new AssertionError(
          file.toAbsolutePath() + " is " + e.getMessage() + "\n" + answer.output(), e);
    }
    if (answer.code() != 0) {
      throw new AssertionError(file.toAbsolutePath() + " is wrong:\n" + answer.output());
    }
    Files.delete(file);
    clients.get(0).delete(home, true);
    return history.size();
  }

  @Override
  public void close() throws IOException {
    load.close();
    recorder.close();
  }
}
