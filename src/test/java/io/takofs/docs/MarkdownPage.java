package io.takofs.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One page of the documents: its fenced blocks, its links and its headings. */
final class MarkdownPage {
  private static final String FENCE = "```";
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

  private final Path file;
  private final List<Block> blocks = new ArrayList<>();
  private final List<String> prose = new ArrayList<>();

  /** A fenced block: the words after the fence, and the text between the fences. */
  record Block(String info, String text) {}

  private MarkdownPage(Path file) {
    this.file = file;
  }

  static MarkdownPage read(Path file) throws IOException {
    MarkdownPage page = new MarkdownPage(file);
    String info = null;
    List<String> text = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      if (!line.startsWith(FENCE)) {
        (info == null ? page.prose : text).add(line);
      } else if (info == null) {
        info = line.substring(FENCE.length()).strip();
      } else {
        page.blocks.add(new Block(info, String.join("\n", text)));
        text.clear();
        info = null;
      }
    }
    if (info != null) {
      throw new IOException(file + " ends inside a fenced block");
    }
    return page;
  }

  /** All pages of the checkout at {@code root}: those at its top and those below docs. */
  static List<MarkdownPage> all(Path root) throws IOException {
    List<MarkdownPage> pages = new ArrayList<>();
    try (Stream<Path> top = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      for (Path file :
          Stream.concat(top, docs)
              .filter(each -> each.toString().endsWith(".md"))
              .sorted()
              .toList()) {
        pages.add(read(file));
      }
    }
    return pages;
  }

  Path file() {
    return file;
  }

  /** Texts of the blocks whose fence carries exactly these words. */
  List<String> blocks(String info) {
    return blocks.stream().filter(each -> each.info().equals(info)).map(Block::text).toList();
  }

  List<Block> blocks() {
    return blocks;
  }

  /** Targets of links and images, as written. */
  List<String> links() {
    return prose.stream()
        .flatMap(line -> LINK.matcher(line).results())
        .map(match -> match.group(1))
        .toList();
  }

  /** Names by which links reach the headings, as GitHub makes them. */
  List<String> anchors() {
    return prose.stream()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("^#+\\s*", "").toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toList());
  }

  /** Paths of this checkout that the page's shell blocks call: words that begin like one. */
  List<String> programs() {
    Pattern program =
        Pattern.compile("(?:^|[\\s(;&|'\"])((?:bin|src|native|bench|server|cli)/[\\w./-]+)");
    return blocks.stream()
        .filter(each -> each.info().isEmpty() || each.info().startsWith("bash"))
        .map(Block::text)
        .flatMap(text -> program.matcher(text).results())
        .map(match -> match.group(1))
        .distinct()
        .toList();
  }

  @Override
  public String toString() {
    return file.getFileName().toString();
  }

  static String anchorOf(String link) {
    Matcher anchor = Pattern.compile("#(.*)$").matcher(link);
    return anchor.find() ? anchor.group(1) : "";
  }
}
