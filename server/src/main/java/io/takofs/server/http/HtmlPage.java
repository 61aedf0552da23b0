package io.takofs.server.http;

import io.takofs.base.TakoException;
import java.util.List;
import java.util.Map;

/** A page for people. */
interface HtmlPage {
  /** The text of links to this page. */
  String title();

  /**
   * Writes what is between the page's head and foot.
   *
   * @param parameters of its address
   * @return the status of HTTP
   * @throws TakoException when the server cannot say what there is to show
   */
  int write(Html html, Map<String, List<String>> parameters) throws TakoException;

  /** Whether it has a place for charts. */
  default boolean hasCharts() {
    return false;
  }

  /** Whether the server with the namespace alone knows what is on it. */
  default boolean isOfNamespace() {
    return false;
  }

  /** The first value of a parameter; empty when it is not given. */
  static String first(Map<String, List<String>> parameters, String name) {
    List<String> values = parameters.getOrDefault(name, List.of());
    return values.isEmpty() ? "" : values.get(0);
  }
}
