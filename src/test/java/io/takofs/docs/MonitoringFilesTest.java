package io.takofs.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.system.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The alert rules and the Grafana board of a release, held against what a server shows. */
@Timeout(240)
class MonitoringFilesTest {
  private static final Path DIRECTORY =
      Path.of(ServerProcess.launcher())
          .toAbsolutePath()
          .getParent()
          .getParent()
          .resolve("dist/package/share");

  /** A metric by its name, and the text in braces after it. */
  private static final Pattern METRIC =
      Pattern.compile("\\b((?:tako|process)_[a-z_]+)(?:\\{([^}]*)\\})?");

  private static final Pattern EVENTS = Pattern.compile("event=~?\"([^\"]*)\"");
  private static final Pattern STATUS = Pattern.compile("status=\"([^\"]*)\"");
  private static final Set<String> STATUSES =
      Arrays.stream(Status.values()).map(Status::name).collect(Collectors.toSet());

  private static String metrics;

  @BeforeAll
  static void ask() throws Exception {
    try (ServerProcess server = ServerProcess.start();
        TakoClient client =
            TakoClient.connect(server.uri(), new TakoConfig(), System.getProperty("user.name"))) {
      client.mkdirs("/d");
      URI page = URI.create(client.serverStatus().getHttp()).resolve("/metrics");
      metrics =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
              .body();
    }
  }

  private static void assertShown(List<String> expressions) {
    Set<String> unknown = new TreeSet<>();
    for (String expression : expressions) {
      Matcher metric = METRIC.matcher(expression);
      while (metric.find()) {
        if (!metrics.contains("\n# TYPE " + family(metric.group(1)) + " ")) {
          unknown.add(metric.group(1));
        }
      }
      Matcher events = EVENTS.matcher(expression);
      while (events.find()) {
        for (String event : events.group(1).split("\\|", -1)) {
          if (!metrics.contains("event=\"" + event + "\"")) {
            unknown.add("event " + event);
          }
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  private static String family(String name) {
    return name.replaceFirst("_(bucket|sum|count)$", "");
  }

  @Test
  void shouldAlertOnMetricsThatExist() throws IOException {
    String rules = Files.readString(DIRECTORY.resolve("prometheus/tako.rules.yml"));
    List<String> parts = List.of(rules.split("(?m)^ +- alert: "));
    List<String> alerts = parts.subList(1, parts.size());
    assertThat(alerts).hasSizeGreaterThan(10);
    List<String> expressions = new ArrayList<>();
    for (String alert : alerts) {
      assertThat(alert)
          .contains("\n        expr: ")
          .containsPattern("\n          severity: (info|warning|critical)\n")
          .contains("\n          summary: \"")
          .containsPattern("\n          runbook: \"[^\"]{40,}\\.\"");
      expressions.add(alert.replaceFirst("(?s).*\n        expr: ([^\n]*)\n.*", "$1"));
    }
    assertShown(expressions);
    Matcher status = STATUS.matcher(String.join("\n", expressions));
    while (status.find()) {
      assertThat(STATUSES).contains(status.group(1).toUpperCase(Locale.ROOT));
    }
  }

  @Test
  void shouldDrawMetricsThatExist() throws IOException {
    JsonObject board =
        JsonParser.parseString(Files.readString(DIRECTORY.resolve("grafana/tako.json")))
            .getAsJsonObject();
    List<String> expressions = new ArrayList<>();
    for (JsonElement panel : board.getAsJsonArray("panels")) {
      assertThat(panel.getAsJsonObject().get("description").getAsString()).isNotBlank();
      for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
        expressions.add(target.getAsJsonObject().get("expr").getAsString());
      }
    }
    assertThat(expressions).hasSizeGreaterThan(20);
    assertShown(expressions);
  }
}
