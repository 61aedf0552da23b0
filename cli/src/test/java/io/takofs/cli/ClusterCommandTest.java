package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.base.Clock;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.server.catalog.CatalogClient;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.FileConfigStore;
import io.takofs.server.catalog.Registration;
import io.takofs.server.log.GroupConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ClusterCommandTest {
  @TempDir private Path directory;

  private Path conf;

  @BeforeEach
  void configure() throws Exception {
    conf = directory.resolve("site.xml");
    Files.writeString(
        conf,
        """
        <configuration>
          <property><name>fs.tako.cluster.servers</name><value>one:1,two:1</value></property>
          <property><name>fs.tako.cluster.name</name><value>bay</value></property>
          <property><name>fs.tako.cluster.catalog.dir</name><value>%s</value></property>
        </configuration>
        """
            .formatted(directory.resolve("catalog")));
  }

  private String run(int code, String... words) {
    String[] arguments = new String[words.length + 3];
    arguments[0] = "cluster";
    System.arraycopy(words, 0, arguments, 1, words.length);
    arguments[words.length + 1] = "--conf";
    arguments[words.length + 2] = conf.toString();
    StringWriter text = new StringWriter();
    CommandLine line = Tako.commandLine(arguments);
    line.setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
    assertThat(line.execute(arguments)).as(text.toString()).isEqualTo(code);
    return text.toString();
  }

  private static void register(ConfigStore store, ServerEntry entry) throws Exception {
    new CatalogClient(store)
        .change(
            map ->
                ClusterMaps.register(map, new Registration(0, 0, entry), id -> Optional.empty()));
  }

  @Test
  void shouldMakeOneCatalogAndShowIt() {
    assertThat(run(1, "status")).contains("is empty", "fs.tako.cluster.servers");
    assertThat(run(0, "init")).contains("cluster bay has a catalog");
    assertThat(run(1, "init")).contains("has cluster bay already", "ALREADY_EXISTS");
    assertThat(run(0, "rotate-key")).contains("key 2");
    assertThat(run(0, "status")).contains("bay", "key      2");
  }

  @Test
  void shouldSayThatFewerServersWillKeepTheNamespace() throws Exception {
    run(0, "init");
    FileConfigStore store = new FileConfigStore(directory.resolve("catalog/catalog"), Clock.SYSTEM);
    for (int i = 1; i <= 4; i++) {
      ServerEntry entry =
          ServerEntry.newBuilder()
              .setHost("host" + i)
              .setPort(1)
              .setPoolId(i)
              .setLogSegments(GroupConfig.SEGMENTS_MIN)
              .build();
      register(store, entry);
    }
    new CatalogClient(store)
        .change(
            map ->
                map.toBuilder()
                    .clearGroups()
                    .addGroups(GroupEntry.newBuilder().setId(1).addAllMembers(List.of(1, 2, 3)))
                    .build());

    assertThat(run(0, "remove", "3")).doesNotContain("keep the namespace");
    assertThat(run(0, "remove", "2"))
        .contains("warning: without server 2, 1 of the 3 servers that keep the namespace will soon")
        .contains("be left, and it is lost then with that one's pool", "add 2 takes it back");
  }

  @Test
  void shouldSayWhichFileIsACopyOfTheCatalog() throws Exception {
    Path other = Files.writeString(directory.resolve("site-copy"), "no catalog");
    assertThat(run(1, "restore-catalog", other.toString()))
        .contains(other + " is no catalog (it does not begin as one): name the copy of another")
        .doesNotContain("begin a new one");
    assertThat(run(1, "restore-catalog", directory.toString()))
        .contains(directory + " is a directory: name a server's copy in it");
  }

  @Test
  void shouldLetServersLeaveAndComeBack() throws Exception {
    run(0, "init");
    FileConfigStore store = new FileConfigStore(directory.resolve("catalog/catalog"), Clock.SYSTEM);
    for (String host : new String[] {"one", "two"}) {
      ServerEntry entry =
          ServerEntry.newBuilder().setHost(host).setPort(1).setPoolId(host.charAt(0)).build();
      register(store, entry);
    }
    assertThat(run(0, "remove", "two:1"))
        .contains("server 2 is DECOMMISSIONING: tako repair says")
        .contains("warning: 1 server is UP, and files may have 3 copies")
        .contains("those with more than 1 keep server 2 until another server joins");
    assertThat(run(0, "add", "2")).contains("server 2 is UP").doesNotContain("the namespace");
    assertThat(run(1, "remove", "three:1"))
        .contains("no server of the cluster is at three:1", "NOT_FOUND");
    long session =
        store.compareAndSet("session/2", ConfigStore.ABSENT, new byte[1], Duration.ofHours(1));
    assertThat(run(1, "remove", "2", "--lost")).contains("server 2 is not lost, it is there");
    store.remove("session/2", session);
    assertThat(run(0, "remove", "2", "--lost")).contains("server 2 is LOST");
    assertThat(run(1, "add", "2")).contains("server 2 is LOST: it is UP again when it starts at");
    assertThat(run(0, "status")).contains("2 two:1 LOST (silent)");
    JsonObject status = JsonParser.parseString(run(0, "status", "--json")).getAsJsonObject();
    assertThat(status.get("servers").getAsJsonArray()).hasSize(2);
    ServerEntry again = ServerEntry.newBuilder().setHost("two").setPort(1).setPoolId('3').build();
    register(store, again);
    assertThat(run(1, "remove", "two:1")).contains("servers [2, 3] are at two:1");
    assertThat(run(0, "remove", "2")).contains("server 2 is removed");
    assertThat(run(1, "remove", "2")).contains("cluster bay has no server 2", "NOT_FOUND");
    assertThat(run(1, "remove", "2", "--lost")).contains("cluster bay has no server 2");
    assertThat(run(1, "add", "2")).contains("cluster bay has no server 2");
  }
}
