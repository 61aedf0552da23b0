package io.takofs.server.http;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * Style sheets, scripts and the icon of the pages, from the server's jars. Each is loaded when it
 * is first asked for, for most servers are never looked at.
 *
 * <p>Thread rule: one thread.
 */
final class Assets {
  private static final String CSS = "text/css; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String UPLOT = "/META-INF/maven/org.webjars.npm/uplot/pom.properties";

  private final Map<String, HttpResponse> loaded = new HashMap<>();

  /** The asset at a path, or null. */
  HttpResponse get(String path) {
    return switch (path) {
      case "/tako.css", "/charts.css" -> load(path, CSS);
      case "/tako.js", "/charts.js" -> load(path, SCRIPT);
      case "/tako.svg" -> load(path, "image/svg+xml");
      case "/uplot.css" -> load(path, CSS);
      case "/uplot.js" -> load(path, SCRIPT);
      default -> null;
    };
  }

  private HttpResponse load(String path, String type) {
    return loaded.computeIfAbsent(
        path,
        any -> {
          try {
            return new HttpResponse(200, type, read(resource(path)));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private static String resource(String path) throws IOException {
    return switch (path) {
      case "/uplot.css" -> uplot() + "uPlot.min.css";
      case "/uplot.js" -> uplot() + "uPlot.iife.min.js";
      default -> path.substring(1);
    };
  }

  /** The directory of the library in its WebJar, which names it by its version. */
  private static String uplot() throws IOException {
    Properties description = new Properties();
    try (InputStream in = open(UPLOT)) {
      description.load(in);
    }
    return "/META-INF/resources/webjars/uplot/" + description.getProperty("version") + "/dist/";
  }

  private static byte[] read(String resource) throws IOException {
    try (InputStream in = open(resource)) {
      return in.readAllBytes();
    }
  }

  private static InputStream open(String resource) throws IOException {
    InputStream in = Assets.class.getResourceAsStream(resource);
    if (in == null) {
      throw new FileNotFoundException(resource + " is in no jar of the class path");
    }
    return in;
  }
}
