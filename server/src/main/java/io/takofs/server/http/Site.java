package io.takofs.server.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ServerStatus;
import io.takofs.server.report.History;
import io.takofs.server.report.MetricsText;
import io.takofs.server.report.StatusJson;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps addresses to pages, and keeps what the charts on them show.
 *
 * <p>Thread rule: one thread.
 */
public final class Site {
  private static final Logger LOG = LoggerFactory.getLogger(Site.class);
  private static final String JSON = "application/json; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";

  /** However often a status is asked for, the server's lock is taken no more often than this. */
  private static final long STATUS_AGE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final ServerView server;
  private final Clock clock;
  private final URI uri;
  private final Map<String, HtmlPage> pages = new LinkedHashMap<>();
  private final Assets assets = new Assets();
  private final History history = new History();
  private ServerStatus status;
  private long statusNs;

  /**
   * The pages of a server.
   *
   * @param uri where its clients find it
   * @param user whose permissions hold for names of files, if any are to be shown
   * @param clock which a state that is shown again is not much older by
   */
  public Site(ServerView server, URI uri, TakoConfig config, Optional<String> user, Clock clock) {
    this.server = server;
    this.clock = clock;
    this.uri = uri;
    pages.put("/", new OverviewPage(this::status, server::cluster, uri));
    pages.put("/cluster", new ClusterPage(server::cluster));
    pages.put("/files", new FilesPage(server, user));
    pages.put("/clients", new ClientsPage(this::status));
    pages.put("/leases", new LeasesPage(server, user));
    pages.put("/config", new ConfigPage(config));
  }

  /** Adds the present status to the history; to be called once each {@link History#PERIOD}. */
  public void sample() {
    ServerStatus now = null;
    try {
      now = server.status();
    } catch (TakoException | RuntimeException e) { // a gap in the charts: they begin again after it
      LOG.debug("no sample for the charts: {}", e.toString());
    }
    history.add(clock.currentTimeMillis(), clock.nanoTime(), now);
  }

  /** The response for {@code address}, a path with parameters. */
  HttpResponse page(String address) {
    QueryStringDecoder decoded = new QueryStringDecoder(address);
    String path;
    Map<String, List<String>> parameters;
    try {
      path = decoded.path();
      parameters = decoded.parameters();
    } catch (IllegalArgumentException e) {
      return HttpResponse.text(400, "the address is not well formed");
    }
    HtmlPage page = pages.get(path);
    if (page != null) {
      return html(path, page, parameters);
    }
    HttpResponse asset = assets.get(path);
    if (asset != null) {
      return asset;
    }
    try {
      return forPrograms(path);
    } catch (TakoException e) {
      return HttpResponse.text(503, e.getMessage());
    }
  }

  private HttpResponse forPrograms(String path) throws TakoException {
    return switch (path) {
      case "/metrics" ->
          HttpResponse.of(
              200, MetricsText.CONTENT_TYPE, MetricsText.of(status(), server.cluster()));
      case "/status" ->
          HttpResponse.of(200, JSON, StatusJson.text(uri, "", status(), server.cluster()));
      case "/history" -> HttpResponse.of(200, JSON, history.json() + "\n");
      case "/health" -> health();
      default ->
          HttpResponse.text(
              404,
              "nothing is here; there are "
                  + String.join(" ", pages.keySet())
                  + " /metrics /health /status /history");
    };
  }

  private HttpResponse html(String path, HtmlPage page, Map<String, List<String>> parameters) {
    Html html = new Html(uri.toString(), path, pages);
    int code;
    try {
      Optional<Html.Link> elsewhere =
          page.isOfNamespace() ? NamespaceLink.elsewhere(server.cluster(), path) : Optional.empty();
      if (elsewhere.isPresent()) {
        html.heading(page.title())
            .paragraph("Another server has the namespace, and shows this:")
            .paragraph(elsewhere.get());
        code = 200;
      } else {
        code = page.write(html, parameters);
      }
    } catch (TakoException e) {
      html.paragraph(e.getMessage());
      code = 503;
    }
    return HttpResponse.of(code, HTML, html.finish());
  }

  private HttpResponse health() {
    Optional<String> sickness = server.sickness();
    JsonObject health = new JsonObject();
    health.addProperty("healthy", sickness.isEmpty());
    health.addProperty("why", sickness.orElse("the server answers calls"));
    health.add("warnings", warnings());
    return HttpResponse.of(sickness.isEmpty() ? 200 : 503, JSON, health + "\n");
  }

  /** About the cluster, as {@code tako status} has them: they make no server sick. */
  private JsonArray warnings() {
    JsonArray warnings = new JsonArray();
    try {
      server.cluster().getWarningsList().forEach(warnings::add);
    } catch (TakoException e) {
      LOG.debug("no warnings can be told: {}", e.toString()); // then the server is sick
    }
    return warnings;
  }

  private ServerStatus status() throws TakoException {
    long now = clock.nanoTime();
    if (status == null || now - statusNs > STATUS_AGE_NS) {
      status = server.status();
      statusNs = now;
    }
    return status;
  }
}
