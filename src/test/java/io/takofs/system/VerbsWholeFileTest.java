package io.takofs.system;

import org.junit.jupiter.api.Tag;

@Tag("verbs")
class VerbsWholeFileTest extends WholeFileTests {
  VerbsWholeFileTest() {
    super("verbs");
  }
}
