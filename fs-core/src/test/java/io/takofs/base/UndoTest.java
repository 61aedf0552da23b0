package io.takofs.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UndoTest {
  private final List<String> closed = new ArrayList<>();

  @Test
  void shouldCloseTheLastMadeFirstAfterAnError() {
    assertThatThrownBy(
            () -> {
              try (Undo undo = new Undo()) {
                undo.add(() -> closed.add("first"));
                undo.add(() -> closed.add("second"));
                throw new OutOfMemoryError("played");
              }
            })
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(closed).containsExactly("second", "first");
  }

  @Test
  void shouldCloseNothingThatIsKept() {
    try (Undo undo = new Undo()) {
      undo.add(() -> closed.add("part"));
      undo.keep();
    }
    assertThat(closed).isEmpty();
  }

  @Test
  void shouldCloseTheOthersWhenOneFailsAndKeepTheFirstFailure() {
    assertThatThrownBy(
            () -> {
              try (Undo undo = new Undo()) {
                undo.add(() -> closed.add("first"));
                undo.add(
                    () -> {
                      throw new IOException("second");
                    });
                undo.add(
                    () -> {
                      throw new StackOverflowError("third");
                    });
                throw new OutOfMemoryError("played");
              }
            })
        .isInstanceOf(OutOfMemoryError.class)
        .satisfies(
            e -> {
              Throwable undoing = e.getSuppressed()[0];
              assertThat(undoing).hasRootCauseInstanceOf(StackOverflowError.class);
              assertThat(undoing.getSuppressed()[0]).hasMessage("second");
            });
    assertThat(closed).containsExactly("first");
  }
}
