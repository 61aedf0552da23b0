package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class ExplanationTest {
  @Test
  void shouldSayWhatIsWrongWithAFile() {
    assertThat(Tako.explanation(new AccessDeniedException("/x")))
        .isEqualTo("tako: permission denied: /x");
    assertThat(Tako.explanation(new NoSuchFileException("/x")))
        .isEqualTo("tako: no such local file: /x");
    assertThat(Tako.explanation(new FileAlreadyExistsException("/x")))
        .isEqualTo("tako: a local file is there already: /x");
    assertThat(Tako.explanation(new FileSystemException("/x", null, "No space left on device")))
        .isEqualTo("tako: /x: No space left on device");
    assertThat(Tako.explanation(new FileSystemException("/x")))
        .isEqualTo("tako: FileSystemException: /x");
    assertThat(Tako.explanation(new IOException())).isEqualTo("tako: IOException");
  }
}
