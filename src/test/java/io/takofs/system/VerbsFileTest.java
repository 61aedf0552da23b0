package io.takofs.system;

import org.junit.jupiter.api.Tag;

@Tag("verbs")
class VerbsFileTest extends FileTests {
  VerbsFileTest() {
    super("verbs");
  }
}
