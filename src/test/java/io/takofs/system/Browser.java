package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Chromium without a window, over the DevTools protocol: opens a page, runs scripts in it, and
 * keeps what went wrong there.
 *
 * <p>Thread rule: one thread.
 */
public final class Browser implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(90);

  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final WebSocket socket;
  private final Map<Integer, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
  private final List<String> errors = new CopyOnWriteArrayList<>();
  private volatile boolean loaded;
  private int last;

  /**
   * Returns when there is a browser. Without one the test is left out; where every test must run
   * ({@code TAKO_TEST_ALL}, as in the project's own runs), it fails.
   */
  public static void assumeInstalled() {
    boolean installed =
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
            .anyMatch(each -> Files.isExecutable(Path.of(each, "chromium")));
    if (System.getenv("TAKO_TEST_ALL") != null) {
      assertThat(installed).as("chromium is installed").isTrue();
    }
    assumeTrue(installed, "chromium is not installed");
  }

  /**
   * Starts one.
   *
   * @param directory for what it keeps
   */
  public Browser(Path directory) throws Exception {
    process =
        new ProcessBuilder(
                "chromium",
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
                "--remote-allow-origins=*",
                "--user-data-dir=" + directory,
                "about:blank")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      Path port = directory.resolve("DevToolsActivePort");
      Poll.until(
          "chromium listens",
          LIMIT,
          () -> Files.exists(port) && Files.readAllLines(port).size() == 2);
      String address = "127.0.0.1:" + Files.readAllLines(port).get(0);
      List<String> targets = new ArrayList<>();
      Poll.until("chromium has a page", LIMIT, () -> targets.addAll(pages(address)));
      socket =
          client.newWebSocketBuilder().buildAsync(URI.create(targets.get(0)), new Events()).get();
    } catch (Exception | Error e) {
      end();
      throw e;
    }
    for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
      call(domain + ".enable", new JsonObject());
    }
  }

  private List<String> pages(String address) throws Exception {
    HttpRequest list = HttpRequest.newBuilder(URI.create("http://" + address + "/json")).build();
    List<String> sockets = new ArrayList<>();
    String body = client.send(list, HttpResponse.BodyHandlers.ofString()).body();
    for (JsonElement each : JsonParser.parseString(body).getAsJsonArray()) {
      if (each.getAsJsonObject().get("type").getAsString().equals("page")) {
        sockets.add(each.getAsJsonObject().get("webSocketDebuggerUrl").getAsString());
      }
    }
    return sockets;
  }

  private JsonObject call(String method, JsonObject parameters) throws Exception {
    JsonObject message = new JsonObject();
    message.addProperty("id", ++last);
    message.addProperty("method", method);
    message.add("params", parameters);
    CompletableFuture<JsonObject> answer = new CompletableFuture<>();
    asked.put(last, answer);
    socket.sendText(message.toString(), true).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    JsonObject reply = answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(reply.get("error")).as(method).isNull();
    return reply.getAsJsonObject("result");
  }

  private static JsonObject object(String json) {
    return JsonParser.parseString(json).getAsJsonObject();
  }

  /** Opens a page in a window of that size, and waits until it is loaded. */
  public void open(URI page, int width, int height, boolean dark) throws Exception {
    errors.clear();
    call(
        "Emulation.setDeviceMetricsOverride",
        object(
            String.format(
                "{width: %d, height: %d, deviceScaleFactor: 1, mobile: false}", width, height)));
    call(
        "Emulation.setEmulatedMedia",
        object(
            String.format(
                "{features: [{name: 'prefers-color-scheme', value: '%s'}]}",
                dark ? "dark" : "light")));
    loaded = false;
    JsonObject address = new JsonObject();
    address.addProperty("url", page.toString());
    assertThat(call("Page.navigate", address).get("errorText")).as(page.toString()).isNull();
    Poll.until(page + " is loaded", LIMIT, () -> loaded);
  }

  /** The value of an expression in the page. */
  public JsonElement evaluate(String script) throws Exception {
    JsonObject parameters = new JsonObject();
    parameters.addProperty("expression", script);
    parameters.addProperty("returnByValue", true);
    parameters.addProperty("awaitPromise", true);
    JsonObject result = call("Runtime.evaluate", parameters);
    assertThat(result.get("exceptionDetails")).as(script).isNull();
    return result.getAsJsonObject("result").get("value");
  }

  /** The page as it is now. */
  public String dom() throws Exception {
    return evaluate("document.documentElement.outerHTML").getAsString();
  }

  /** What went wrong in the page since it was opened: exceptions, refused resources, warnings. */
  List<String> errors() {
    return errors;
  }

  /** Keeps a picture of the whole page. */
  void picture(Path file) throws Exception {
    JsonObject size = call("Page.getLayoutMetrics", new JsonObject());
    JsonObject clip = size.getAsJsonObject("cssContentSize");
    clip.addProperty("scale", 1);
    JsonObject parameters = new JsonObject();
    parameters.addProperty("format", "png");
    parameters.addProperty("captureBeyondViewport", true);
    parameters.add("clip", clip);
    String data = call("Page.captureScreenshot", parameters).get("data").getAsString();
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(data));
  }

  @Override
  public void close() {
    socket.abort();
    end();
  }

  /** Ends the browser and all processes of it, because each writes to its directory until then. */
  private void end() {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    process.destroy();
    CompletableFuture<?> ended =
        CompletableFuture.allOf(
            all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new));
    try {
      ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      all.forEach(ProcessHandle::destroyForcibly);
    } catch (InterruptedException e) {
      all.forEach(ProcessHandle::destroyForcibly);
      Thread.currentThread().interrupt();
    }
  }

  /** What the browser says by itself, and its answers. */
  private final class Events implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean complete) {
      text.append(part);
      if (complete) {
        JsonObject message = JsonParser.parseString(text.toString()).getAsJsonObject();
        text.setLength(0);
        if (message.has("id")) {
          asked.remove(message.get("id").getAsInt()).complete(message);
        } else {
          onEvent(message.get("method").getAsString(), message.getAsJsonObject("params"));
        }
      }
      from.request(1);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      asked.values().forEach(each -> each.completeExceptionally(error));
    }

    private void onEvent(String event, JsonObject what) {
      switch (event) {
        case "Page.loadEventFired" -> loaded = true;
        case "Runtime.exceptionThrown" -> errors.add(what.toString());
        case "Runtime.consoleAPICalled" -> {
          JsonArray values = what.getAsJsonArray("args");
          errors.add(what.get("type").getAsString() + " " + values);
        }
        case "Log.entryAdded" -> errors.add(what.getAsJsonObject("entry").toString());
        default -> {}
      }
    }
  }
}
