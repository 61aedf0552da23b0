package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class PathNamesTest {
  @Test
  void shouldTakeThePathAlone() {
    assertThat(PathNames.of(new Path("tako://host:1/a/b c%20"))).isEqualTo("/a/b c%20");
    assertThat(PathNames.of(new Path("tako://host:1/"))).isEqualTo("/");
  }

  @Test
  void shouldIgnoreASlashAtTheEnd() {
    assertThat(PathNames.of(new Path(URI.create("tako://host:1/a/b/")))).isEqualTo("/a/b");
    assertThat(new ChildPaths(new Path(URI.create("tako://host:1/a/"))).of("b"))
        .isEqualTo(new Path("tako://host:1/a/b"));
  }

  @Test
  void shouldRefuseNamesThatHadoopReserves() {
    // Path itself takes most of these out; the rest must not reach the server.
    assertThatThrownBy(() -> PathNames.of(new Path("tako://host:1/a/b:c")))
        .isInstanceOf(InvalidPathException.class)
        .hasMessageContaining("b:c");
    assertThatThrownBy(() -> PathNames.of(new Path("/..")))
        .isInstanceOf(InvalidPathException.class);
    assertThat(PathNames.of(new Path("/.a/..b/c.."))).isEqualTo("/.a/..b/c..");
  }
}
