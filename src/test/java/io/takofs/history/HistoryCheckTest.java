package io.takofs.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Both checkers of histories, on those of src/test/linearizability and on random ones. */
@Timeout(240)
class HistoryCheckTest {
  private static final int RANDOM = 3_000;
  private static final int RANDOM_IN_GO = 300;

  private static List<Path> histories(String directory) throws IOException {
    Path all = GoChecker.directory().resolve("testdata").resolve(directory);
    try (Stream<Path> files = Files.list(all)) {
      return files.sorted().toList();
    }
  }

  static List<Path> accepted() throws IOException {
    return histories("accepted");
  }

  static List<Path> refused() throws IOException {
    return histories("refused");
  }

  static List<Path> bad() throws IOException {
    return histories("bad");
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void shouldAcceptWhatIsLinearizable(Path file) throws Exception {
    HistoryCheck.check(HistoryReader.read(file));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void shouldRefuseWhatIsNot(Path file) throws Exception {
    List<HistoryOperation> history = HistoryReader.read(file);
    assertThatThrownBy(() -> HistoryCheck.check(history))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching("(?s)not linearizable: .*no order of these \\d+ operations .*");
  }

  @ParameterizedTest
  @MethodSource("bad")
  void shouldSayWhatIsWrongWithBadInput(Path file) {
    assertThatThrownBy(() -> HistoryReader.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ", line ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ':',
      value = {
        "rename-done-twice:{/a (2), /b (1)}:READ",
        "delete-comes-back:{}:READ",
        "old-read-after-newer-write:{/a (2)}:READ",
        "before-it-began:{}:READ",
        "two-creates-win:{}:CREATE CREATE",
        "unknown-then-wrong:{} or {/a (1)} or {/a (1, empty)}:READ"
      })
  void shouldExplainInFewOperations(String name, String states, String actions) throws Exception {
    Path file = GoChecker.directory().resolve("testdata/refused/" + name + ".jsonl");
    HistoryExplanation explanation = HistoryExplanation.of(HistoryReader.read(file));
    assertThat(explanation.operations())
        .extracting(operation -> operation.call().action().name())
        .containsExactly(actions.split(" ", -1));
    assertThat(explanation.states())
        .extracting(NamespaceState::toString)
        .containsExactlyInAnyOrder(states.split(" or ", -1));
  }

  /** Orders of few operations are tried without anything that makes a search short. */
  @Test
  void shouldAgreeWithATrialOfAllOrders() {
    int refused = 0;
    for (int seed = 0; seed < RANDOM; seed++) {
      List<HistoryOperation> history = RandomHistory.linearizable(seed, 7);
      assertThat(HistoryCheck.isLinearizable(history)).as("seed %d", seed).isTrue();
      List<HistoryOperation> changed = RandomHistory.changed(history, seed);
      boolean linearizable = HistoryCheck.isLinearizable(changed);
      assertThat(linearizable)
          .as("seed %d, %s", seed, changed)
          .isEqualTo(hasOrder(changed, NamespaceState.EMPTY));
      refused += linearizable ? 0 : 1;
    }
    assertThat(refused).isBetween(RANDOM / 4, RANDOM * 3 / 4);
  }

  private static boolean hasOrder(List<HistoryOperation> left, NamespaceState state) {
    if (left.stream().noneMatch(HistoryOperation::isEnded)) {
      return true;
    }
    for (HistoryOperation first : left) {
      List<HistoryOperation> rest = new ArrayList<>(left);
      rest.remove(first);
      if (rest.stream().allMatch(other -> first.beginNs() <= other.endNs())
          && state
              .after(first.call(), first.result())
              .map(next -> hasOrder(rest, next))
              .orElse(false)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void shouldAgreeWithTheCheckerInGo(@TempDir Path directory) throws Exception {
    assumeThat(GoChecker.build()).as("Go, which the log says why it is left out").isPresent();
    GoChecker go = GoChecker.build().orElseThrow();
    List<Path> good = new ArrayList<>(accepted());
    List<Path> wrong = new ArrayList<>(refused());
    for (int seed = 0; seed < RANDOM_IN_GO; seed++) {
      List<HistoryOperation> history = RandomHistory.linearizable(seed, 40);
      if (seed % 2 == 0) {
        history = RandomHistory.changed(history, seed);
      }
      Path file = directory.resolve(seed + ".jsonl");
      RandomHistory.write(history, file);
      boolean linearizable = HistoryCheck.isLinearizable(HistoryReader.read(file));
      (linearizable ? good : wrong).add(file);
    }
    assertThat(wrong).hasSizeGreaterThan(RANDOM_IN_GO / 8);
    GoChecker.Answer ofGood = go.check(good);
    assertThat(ofGood.code()).as(ofGood.output()).isZero();
    GoChecker.Answer ofWrong = go.check(wrong);
    assertThat(ofWrong.output().lines().filter(line -> line.contains("not linearizable")))
        .as(ofWrong.output())
        .hasSize(wrong.size());
    assertThat(go.check(bad()).output().lines()).hasSize(bad().size());
  }

  @Test
  void shouldReadWhatWasRecorded(@TempDir Path directory) throws Exception {
    List<HistoryOperation> history = RandomHistory.linearizable(7, 200);
    RandomHistory.write(history, directory.resolve("recorded"));
    List<HistoryOperation> read = HistoryReader.read(directory.resolve("recorded"));
    assertThat(read).hasSameSizeAs(history);
    assertThat(IntStream.range(0, read.size()))
        .allMatch(i -> read.get(i).call().equals(history.get(i).call()))
        .allMatch(i -> read.get(i).result().equals(history.get(i).result()))
        .allMatch(i -> read.get(i).process() == history.get(i).process())
        .allMatch(i -> read.get(i).isEnded() == history.get(i).isEnded());
    HistoryCheck.check(read);
  }
}
