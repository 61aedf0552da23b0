package io.takofs.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.Map;

/**
 * A page that is being written. All text is escaped here, so that no name of a file or a client
 * becomes markup.
 *
 * <p>Thread rule: one thread.
 */
final class Html {
  private static final String CHARTS =
      "<link rel=\"stylesheet\" href=\"/uplot.css\"><link rel=\"stylesheet\" href=\"/charts.css\">"
          + "<script src=\"/uplot.js\" defer></script><script src=\"/charts.js\" defer></script>";

  private final StringBuilder out = new StringBuilder(1 << 14);
  private String[] columns = {};

  /**
   * A page with its head.
   *
   * @param server its name
   * @param path of this page
   * @param pages all pages by path
   */
  Html(String server, String path, Map<String, HtmlPage> pages) {
    out.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width\"><title>");
    text(pages.get(path).title() + " - " + server);
    out.append("</title><link rel=\"icon\" href=\"/tako.svg\">")
        .append("<link rel=\"stylesheet\" href=\"/tako.css\">")
        .append("<script src=\"/tako.js\" defer></script>")
        .append(pages.get(path).hasCharts() ? CHARTS : "")
        .append("</head>\n<body><header><h1>");
    text(server);
    out.append("</h1><nav>");
    pages.forEach(
        (to, page) -> {
          out.append("<a href=\"").append(to).append('"');
          out.append(to.equals(path) ? " aria-current=\"page\">" : ">");
          text(page.title());
          out.append("</a>");
        });
    out.append("</nav></header>\n<main>\n");
  }

  /** The whole page. */
  String finish() {
    return out.append(
            "</main>\n<footer><a href=\"/metrics\">metrics</a><a href=\"/health\">health</a>"
                + "<a href=\"/status\">status</a><a href=\"/history\">history</a></footer>"
                + "</body></html>\n")
        .toString();
  }

  Html heading(String heading) {
    return element("h2", heading);
  }

  Html paragraph(String sentence) {
    return element("p", sentence);
  }

  private Html element(String name, String content) {
    out.append('<').append(name).append('>');
    text(content);
    out.append("</").append(name).append(">\n");
    return this;
  }

  /** The place of the charts, which a script fills. */
  Html charts() {
    out.append("<div id=\"charts\"></div>\n");
    return this;
  }

  /**
   * Begins a table; cells that begin a row's heading are not told apart. Where the page is narrow,
   * a row is a list of headings and cells, unless the table has no headings.
   */
  Html table(String... headings) {
    columns = headings;
    out.append(headings[0].isEmpty() ? "<table><thead><tr>" : "<table class=\"list\"><thead><tr>");
    for (String heading : headings) {
      element("th", heading);
    }
    out.append("</tr></thead><tbody>\n");
    return this;
  }

  Html row(Object... cells) {
    out.append("<tr>");
    for (int i = 0; i < cells.length; i++) {
      out.append("<td");
      if (!columns[i].isEmpty()) {
        attribute("data-label", columns[i]);
      }
      cell(cells[i]);
    }
    out.append("</tr>\n");
    return this;
  }

  private void attribute(String name, String value) {
    out.append(' ').append(name).append("=\"");
    text(value);
    out.append('"');
  }

  private void cell(Object cell) {
    if (cell instanceof Link link) {
      out.append('>');
      link(link);
    } else if (cell instanceof Alert alert) {
      out.append(" class=\"alert\">");
      text(alert.text());
    } else {
      boolean figure = cell instanceof Number || cell instanceof Figure;
      out.append(figure ? " class=\"number\">" : ">");
      text(cell instanceof Figure text ? text.text() : cell.toString());
    }
    out.append("</td>");
  }

  Html endTable() {
    out.append("</tbody></table>\n");
    return this;
  }

  /** A bar for the used part of a whole. */
  Html bar(String label, double share) {
    out.append("<p class=\"bar\"><meter min=\"0\" max=\"1\" high=\"0.9\" value=\"")
        .append(Math.max(0, Math.min(1, share)))
        .append("\"></meter> ");
    text(label);
    out.append("</p>\n");
    return this;
  }

  /**
   * A link within a table.
   *
   * @param parameters names and values
   */
  record Link(String text, String path, String... parameters) {}

  /** A short text in a table that stays on one line, such as a size. */
  record Figure(String text) {}

  /** Text in a table that must not be overlooked. */
  record Alert(String text) {}

  /** A sentence that must not be overlooked. */
  Html warning(String sentence) {
    out.append("<p class=\"alert\">");
    text(sentence);
    out.append("</p>\n");
    return this;
  }

  /**
   * Whether a link may lead there: to the pages of another server, and to nothing that runs here.
   */
  static boolean isPageAddress(String url) {
    return url.matches("https?://[A-Za-z0-9._:\\[\\]-]+/?");
  }

  Html paragraph(Link link) {
    out.append("<p>");
    link(link);
    out.append("</p>\n");
    return this;
  }

  private void link(Link link) {
    out.append("<a href=\"").append(link.path());
    for (int i = 0; i < link.parameters().length; i += 2) {
      out.append(i == 0 ? "?" : "&amp;")
          .append(link.parameters()[i])
          .append('=')
          .append(URLEncoder.encode(link.parameters()[i + 1], UTF_8));
    }
    out.append("\">");
    text(link.text());
    out.append("</a>");
  }

  private void text(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        // Not allowed in a page, and of no use to anybody who looks at one.
        default -> out.append(Character.isISOControl(c) ? '\ufffd' : c);
      }
    }
  }
}
