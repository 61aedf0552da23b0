package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class ChildPathsTest {
  private static final List<String> NAMES =
      List.of(
          "part-00000",
          "_SUCCESS",
          ".hidden",
          "with space",
          "100%",
          "%20",
          "a%zz",
          "key=value",
          "a?b#c",
          "a:b",
          "1:2",
          "scheme:name",
          "[x]{y}",
          "back\\slash",
          "quote\"'`^|<>",
          "caf\u00e9",
          "\u6f22\u5b57",
          "\ud83d\ude00",
          "~",
          "...",
          "@host",
          "a+b&c;d,e$!*()");

  @Test
  void shouldEqualPathsThatWereParsed() {
    for (String directory : List.of("/", "/a", "/a b/100%/\u00e9", "/x/y:z")) {
      Path parent = new Path("tako", "127.0.0.1:7420", directory);
      ChildPaths children = new ChildPaths(parent);
      String prefix = directory.equals("/") ? "/" : directory + "/";
      for (String name : NAMES) {
        Path parsed = new Path("tako", "127.0.0.1:7420", prefix + name);
        Path child = children.of(name);
        assertThat(child)
            .isEqualTo(parsed)
            .hasSameHashCodeAs(parsed)
            .hasToString(parsed.toString());
        assertThat(child.getName()).isEqualTo(name);
        assertThat(child.getParent()).isEqualTo(parent);
        assertThat(child.toUri()).isEqualTo(parsed.toUri());
        assertThat(child.toUri().toString()).isEqualTo(parsed.toUri().toString());
      }
    }
  }
}
