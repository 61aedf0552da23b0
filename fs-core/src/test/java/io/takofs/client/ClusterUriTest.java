package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterUriTest {
  private static List<URI> servers(String uri) throws TakoException {
    TakoConfig config =
        new TakoConfig().set("fs.tako.cluster.Bay.servers", "One:7000, two,[::1]:9");
    return ClusterUri.servers(URI.create(uri), config);
  }

  @Test
  void shouldGiveTheServersOfAClusterByItsName() throws Exception {
    assertThat(servers("tako://bay/a/b"))
        .containsExactly(
            URI.create("tako://one:7000"),
            URI.create("tako://two:7420"),
            URI.create("tako://[::1]:9"))
        .isEqualTo(servers("tako://BAY"))
        .isEqualTo(servers("tako://bay:7420"));
  }

  @Test
  void shouldTakeAHostWithAPortForAServer() throws Exception {
    assertThat(servers("tako://bay:7421/a")).containsExactly(URI.create("tako://bay:7421"));
    assertThat(servers("tako://other/a")).containsExactly(URI.create("tako://other:7420"));
  }

  @Test
  void shouldGiveAFileSystemOneUri() throws Exception {
    TakoConfig config = new TakoConfig().set("fs.tako.cluster.my-bay.servers", "one");
    for (String uri : List.of("tako://my-bay", "TAKO://My-Bay/a b", "tako://my-bay:7420/")) {
      assertThat(ClusterUri.parse(uri, config)).isEqualTo(URI.create("tako://my-bay"));
    }
    assertThat(ClusterUri.parse("tako://One/a%b", config)).isEqualTo(URI.create("tako://one:7420"));
    assertThat(catchThrowable(() -> ClusterUri.parse("tako://your:bay/", config)))
        .hasMessageContaining("'tako://your:bay' names no server")
        .hasMessageContaining("fs.tako.cluster.NAME.servers");
  }

  @Test
  void shouldRefuseListsThatAreNoneOfServers() {
    for (String list : List.of("a:0", "a:70000", "a:x", "a b", "a,A:7420", ":7", "tako://a:1")) {
      assertThat(catchThrowable(() -> new TakoConfig().set("fs.tako.cluster.bay.servers", list)))
          .as(list)
          .hasMessageContaining("fs.tako.cluster.bay.servers is '" + list);
      assertThat(catchThrowable(() -> new TakoConfig().set("fs.tako.cluster.servers", list)))
          .as(list)
          .hasMessageContaining("fs.tako.cluster.servers is '" + list);
    }
  }
}
