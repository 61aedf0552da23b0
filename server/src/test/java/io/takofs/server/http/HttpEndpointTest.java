package io.takofs.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.Leases;
import io.takofs.proto.Listing;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.Status;
import io.takofs.server.codec.ByteWriter;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HttpEndpointTest {
  private static final URI SERVER = URI.create("tako://host:7420");
  private static final String HOSTILE = "<script>alert('&\"')</script>";

  private final FakeView view = new FakeView();
  private final HttpClient client = HttpClient.newHttpClient();
  private HttpEndpoint endpoint;

  /** Says what it is told to say. */
  private static final class FakeView implements ServerView {
    private volatile Optional<String> sickness = Optional.empty();
    private volatile String asked = "";
    private volatile ClusterStatus cluster = ClusterStatus.getDefaultInstance();
    private volatile Reply reply = Reply.getDefaultInstance();

    @Override
    public ServerStatus status() {
      return ServerStatus.newBuilder()
          .setFiles(4711)
          .addConnections(ConnectionStatus.newBuilder().setClientName(HOSTILE).setTransport("shm"))
          .build();
    }

    @Override
    public ClusterStatus cluster() {
      return cluster;
    }

    @Override
    public Reply query(String user, Request request) throws TakoException {
      asked = user + " " + request;
      return reply;
    }

    @Override
    public Optional<String> sickness() {
      return sickness;
    }
  }

  @BeforeEach
  void start() throws IOException {
    start(Optional.of("alice"));
  }

  private void start(Optional<String> user) throws IOException {
    endpoint = HttpEndpoint.listen("127.0.0.1", 0, site(user));
  }

  private Site site(Optional<String> user) {
    return new Site(view, SERVER, new TakoConfig(), user, Clock.SYSTEM);
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(endpoint.url() + path)).build());
  }

  private HttpResponse<String> send(HttpRequest request) throws Exception {
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private Socket connect() throws IOException {
    URI url = URI.create(endpoint.url());
    return new Socket(url.getHost(), url.getPort());
  }

  /** The server's answer to these bytes, until it closes the connection. */
  private String raw(String request) throws IOException {
    try (Socket socket = connect();
        InputStream in = socket.getInputStream()) {
      socket.getOutputStream().write(request.getBytes(UTF_8));
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  @Test
  void shouldShowTheStatusToPeopleAndPrograms() throws Exception {
    assertThat(get("").body()).contains("4711 (0 open for writing)");
    assertThat(get("metrics").body()).contains("\ntako_files 4711\n");
    assertThat(get("metrics").headers().firstValue("content-type").orElseThrow())
        .startsWith("text/plain; version=0.0.4");
    var status = JsonParser.parseString(get("status").body()).getAsJsonObject();
    assertThat(status.get("server").getAsString()).isEqualTo(SERVER.toString());
    assertThat(status.getAsJsonObject("status").get("files").getAsString()).isEqualTo("4711");
    assertThat(unlabelled(get("config").body()))
        .contains("<td>fs.tako.server.port</td><td>7420</td><td>default</td>")
        .doesNotContain("fs.tako.client.timeout");
    assertThat(get("tako.css").headers().firstValue("content-type"))
        .hasValue("text/css; charset=utf-8");
    for (String asset :
        List.of("tako.js", "tako.svg", "charts.js", "charts.css", "uplot.js", "uplot.css")) {
      assertThat(get(asset).statusCode()).as(asset).isEqualTo(200);
    }
  }

  /** A page without the headings that each of its cells has. */
  private static String unlabelled(String page) {
    return page.replaceAll(" data-label=\"[^\"]*\"", "");
  }

  @Test
  void shouldKeepSamplesOfTheLastHour() throws Exception {
    Site mine = site(Optional.empty());
    mine.sample();
    mine.sample();
    String body = new String(mine.page("/history").body(), UTF_8);
    assertThat(JsonParser.parseString(body).getAsJsonObject().getAsJsonArray("time_s")).hasSize(2);
    assertThat(get("history").headers().firstValue("content-type").orElseThrow())
        .startsWith("application/json");
    assertThat(get("").body()).contains("<div id=\"charts\"></div>").contains("/uplot.js");
    assertThat(get("clients").body()).doesNotContain("/uplot.js");
  }

  @Test
  void shouldShowAllServersOfTheCluster() throws Exception {
    view.cluster =
        ClusterStatus.newBuilder()
            .setServer(2)
            .setLeader(1)
            .setLeaderAgeMs(3000)
            .addWarnings("too few <servers>")
            .addServers(server(1, "http://a:7421/", "silent & <gone>"))
            .addServers(server(2, "javascript:alert(1)", ""))
            .build();
    assertThat(unlabelled(get("cluster").body()))
        .contains("<p class=\"alert\">too few &lt;servers&gt;</p>")
        .contains(
            "<td>1</td><td><a href=\"http://a:7421/\">a:7420</a></td><td class=\"number\">up</td>")
        .contains("<td class=\"alert\">silent &amp; &lt;gone&gt;</td>")
        .contains("<td>2 (this one)</td><td>a:7420</td><td class=\"number\">up</td><td>well</td>")
        .contains("Server 1 leads: what stands here of slabs is what it said 00:00:03 ago.")
        .doesNotContain("javascript:");

    view.cluster = view.cluster.toBuilder().setLeader(0).build();
    assertThat(get("cluster").body()).doesNotContain("Server 0", "what stands here of slabs");
    view.cluster = view.cluster.toBuilder().setRepair(RepairStatus.getDefaultInstance()).build();
    assertThat(get("cluster").body())
        .contains("No server leads: what stands here of slabs was said 00:00:03 ago.");
  }

  private static ServerHealth server(int id, String http, String trouble) {
    return ServerHealth.newBuilder()
        .setEntry(ServerEntry.newBuilder().setId(id).setHost("a").setPort(7420).setHttp(http))
        .setTrouble(trouble)
        .build();
  }

  @Test
  void shouldLeadToTheServerWithTheNamespace() throws Exception {
    view.cluster =
        ClusterStatus.newBuilder()
            .setServer(2)
            .setLeader(1)
            .addServers(server(1, "http://a:7421/", ""))
            .addServers(server(2, "http://b:7421/", ""))
            .build();
    for (String page : List.of("files", "leases", "clients")) {
      assertThat(get(page).body())
          .contains("<a href=\"http://a:7421/" + page + "\">server 1 at a:7420</a>");
    }
    assertThat(view.asked).isEmpty();
    assertThat(unlabelled(get("").body()))
        .contains("<td>Namespace</td><td><a href=\"http://a:7421/\">server 1 at a:7420</a></td>")
        .doesNotContain("4711", "metadata pages");
  }

  @Test
  void shouldSayWhyItIsNotHealthy() throws Exception {
    view.cluster = ClusterStatus.newBuilder().addWarnings("few members; do something").build();
    assertThat(get("health").statusCode()).isEqualTo(200);
    assertThat(get("health").body()).contains("\"warnings\":[\"few members; do something\"]");
    view.sickness = Optional.of("log entry 7 cannot be applied");
    HttpResponse<String> sick = get("health");
    assertThat(sick.statusCode()).isEqualTo(503);
    assertThat(sick.body()).contains("log entry 7 cannot be applied");
  }

  /** An entry of a listing: a directory made in 1970. */
  private static byte[] directory(String name, int permission) {
    return new ByteWriter(64)
        .u8(1)
        .sized(name.getBytes(UTF_8))
        .u64(1)
        .variable(permission)
        .raw(new byte[8]) // owner, group, times, length, replication, block size, version
        .toBytes();
  }

  @Test
  void shouldShowFilesWithThePermissionsOfThePagesUser() throws Exception {
    view.reply =
        Reply.newBuilder()
            .setListing(
                Listing.newBuilder()
                    .setEntries(ByteString.copyFrom(directory("a&b c", 0700)))
                    .addPrincipals("owner")
                    .setMore(true))
            .build();
    assertThat(get("files?path=/x").body())
        .contains("<a href=\"/files?path=%2Fx%2Fa%26b+c\">a&amp;b c/</a>")
        .contains("<a href=\"/files?path=%2Fx&amp;after=a%26b+c\">more</a>")
        .contains("drwx------");
    assertThat(view.asked).startsWith("alice").contains("path: \"/x\"");
    view.reply = Reply.newBuilder().setStatus(Status.PERMISSION_DENIED).setMessage("no").build();
    assertThat(get("files?path=/x").statusCode()).isEqualTo(403);
  }

  @Test
  void shouldShowWhoWrites() throws Exception {
    view.reply =
        Reply.newBuilder()
            .setLeases(
                Leases.newBuilder()
                    .addLeases(
                        LeaseInfo.newBuilder().setPath("/f").setUser("bob").setOpenMs(61_000))
                    .setNextAfter(-2))
            .build();
    assertThat(unlabelled(get("leases").body()))
        .contains("<td>/f</td>")
        .contains("<td>bob</td><td>00:01:01</td>")
        .contains("after=18446744073709551614");
    get("leases?after=18446744073709551614");
    assertThat(view.asked).contains("after_file_id: 18446744073709551614");
  }

  @Test
  void shouldAskForNoNamesWithoutAUser() throws Exception {
    stop();
    start(Optional.empty());
    assertThat(get("files?path=/x").body()).contains("fs.tako.server.http.user");
    assertThat(get("leases").body()).contains("fs.tako.server.http.user");
    assertThat(view.asked).isEmpty();
  }

  @Test
  void shouldMakeNoMarkupOfNames() throws Exception {
    assertThat(get("clients").body())
        .contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;")
        .doesNotContain(HOSTILE);
    assertThat(get("files?path=%3Cscript%3E").body()).doesNotContain("<script>");
    assertThat(get("").headers().firstValue("content-security-policy").orElseThrow())
        .contains("default-src 'none'")
        .doesNotContain("unsafe");
  }

  @Test
  void shouldRefuseWhatItDoesNotOffer() throws Exception {
    assertThat(get("nothing").statusCode()).isEqualTo(404);
    HttpRequest post =
        HttpRequest.newBuilder(URI.create(endpoint.url() + "files"))
            .POST(HttpRequest.BodyPublishers.ofString("x"))
            .build();
    assertThat(send(post).statusCode()).isEqualTo(405);
    assertThat(send(post).headers().firstValue("allow")).hasValue("GET, HEAD");
    assertThat(raw("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .doesNotContain("<html");
    assertThat(raw("\0\1\2\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    assertThat(raw("GET /%zz HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    assertThat(raw("GET /" + "x".repeat(20_000) + " HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 414 ");
    assertThat(raw("GET / HTTP/1.1\r\nA: " + "x".repeat(20_000) + "\r\n\r\n"))
        .startsWith("HTTP/1.1 431 ");
  }

  @Test
  void shouldAnswerBesideThoseThatSendHalfARequest() throws Exception {
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 20; i++) {
        Socket socket = connect();
        slow.add(socket);
        socket.getOutputStream().write("GET / HTTP/1.1\r\nA:".getBytes(UTF_8));
      }
      assertThat(get("health").statusCode()).isEqualTo(200);
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
  }

  @Test
  void shouldEndAConnectionThatDoesNotAskInTime() throws Exception {
    stop();
    endpoint = HttpEndpoint.listen("127.0.0.1", 0, site(Optional.empty()), Duration.ofMillis(200));
    try (Socket socket = connect()) {
      socket.getOutputStream().write("GET".getBytes(UTF_8));
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void shouldTakeSoManyConnectionsAndNoMore() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        idle.add(connect());
      }
      // Those beyond the limit are closed at once, long before the others' time is over.
      assertThat(idle.get(99).getInputStream().read()).isEqualTo(-1);
      idle.get(0).getOutputStream().write("GET /health HTTP/1.1\r\n\r\n".getBytes(UTF_8));
      assertThat(new String(idle.get(0).getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 200 ");
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }
}
