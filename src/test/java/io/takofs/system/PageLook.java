package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Looks at a page as a person would, and says what is wrong with how it looks. */
final class PageLook {
  static final int NARROW = 375;
  static final int WIDE = 1440;

  private static final Path SEEN = Path.of("target", "seen");
  private static final int HEIGHT = 900;
  private static final Duration DRAWN = Duration.ofSeconds(60);

  /** Whether all charts are there. */
  private static final String CHARTS = "document.querySelectorAll('#charts canvas').length === 4";

  /** A sentence for each thing that a person could not read, or would have to scroll for. */
  private static final String LAYOUT =
      """
      (() => {
        const wrong = [];
        const width = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth > width) {
          wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
        }
        for (const each of document.querySelectorAll('body *')) {
          const box = each.getBoundingClientRect();
          const style = getComputedStyle(each);
          if (box.width === 0 || style.visibility === 'hidden' || each.closest('.u-wrap')) {
            continue;
          }
          const own = [...each.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
              .map(node => node.data.trim()).join('');
          const what = `${each.tagName} '${own.slice(0, 40)}'`;
          if (box.right > width + 1 || box.left < -1) {
            wrong.push(`${what} ends beyond the window`);
          }
          if (own && style.display !== 'inline' && each.scrollWidth > each.clientWidth + 1) {
            wrong.push(`${what} is cut`);
          }
          for (const node of each.childNodes) {
            for (const word of node.nodeType === Node.TEXT_NODE ? node.data.matchAll(/\\S+/g) : []) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              const lines = new Set([...range.getClientRects()].map(line => Math.round(line.top)));
              if (lines.size > 1 && word[0].length <= 12) {
                wrong.push(`'${word[0]}' of ${what} is broken into ${lines.size} lines`);
              }
            }
          }
        }
        return wrong;
      })()
      """;

  /** A sentence for each chart that has no line, or labels that are cut. */
  private static final String DRAWN_CHARTS =
      """
      [...document.querySelectorAll('#charts figure')].flatMap(figure => {
        const canvas = figure.querySelector('canvas');
        const name = figure.querySelector('figcaption').textContent;
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const rows = [...Array(canvas.height).keys()];
        let coloured = 0;
        for (let i = 0; i < data.length; i += 4) {
          const ink = [data[i], data[i + 1], data[i + 2]];
          if (data[i + 3] > 128 && Math.max(...ink) - Math.min(...ink) > 60) {
            coloured++;
          }
        }
        const wrong = [];
        if (coloured < 20) {
          wrong.push(`${name}: ${coloured} pixels of lines`);
        }
        if (rows.some(row => data[4 * row * canvas.width + 3] > 64)) {
          wrong.push(`${name}: labels are cut at the left`);
        }
        return wrong;
      })
      """;

  private PageLook() {}

  /** The DOM of a page in a window of that width; fails when something is wrong with it. */
  static String look(Browser browser, URI page, String picture, int width, boolean dark)
      throws Exception {
    String name = picture + "-" + width + (dark ? "-dark" : "");
    browser.open(page, width, HEIGHT, dark);
    boolean charts = browser.evaluate("!!document.getElementById('charts')").getAsBoolean();
    List<String> wrong = new ArrayList<>();
    if (charts) {
      Poll.until(name + ": charts are drawn", DRAWN, () -> browser.evaluate(CHARTS).getAsBoolean());
      wrong.addAll(sentences(browser, DRAWN_CHARTS));
    }
    wrong.addAll(sentences(browser, LAYOUT));
    browser.picture(SEEN.resolve(name + ".png"));
    assertThat(wrong).as(name).isEmpty();
    assertThat(browser.errors()).as(name).isEmpty();
    return browser.dom();
  }

  private static List<String> sentences(Browser browser, String script) throws Exception {
    List<String> sentences = new ArrayList<>();
    for (JsonElement each : browser.evaluate(script).getAsJsonArray()) {
      sentences.add(each.getAsString());
    }
    return sentences;
  }
}
