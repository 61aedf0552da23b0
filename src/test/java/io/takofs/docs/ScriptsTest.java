package io.takofs.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.system.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The names that scripts and documents use: files, Maven modules, classes, packages and tests of
 * this checkout. None of these is compiled, so that a rename would leave them behind unnoticed.
 */
class ScriptsTest {
  private static final Path ROOT =
      Path.of(ServerProcess.launcher()).toAbsolutePath().getParent().getParent();

  private static final Pattern PATH =
      Pattern.compile(
          "(?<![\\w/.$}-])(?:\"?\\$root\"?/)?((?:bin|src|native|bench|conf|specs)/[\\w./-]*\\w)");
  private static final Pattern MODULES = Pattern.compile("-pl ([\\w./,-]*\\w)");
  private static final Pattern NAME = Pattern.compile("(?<![\\w./-])io\\.takofs(?:\\.\\w+)+");
  private static final Pattern TEST = Pattern.compile("-D(?:it\\.)?test=['\"]?([\\w*]+)");
  private static final Pattern METHOD = Pattern.compile("\\bshould[A-Z]\\w+");

  /** Package to which the build moves the classes of others in the plug-in's jar. */
  private static final String MOVED = "io.takofs.shaded";

  /** Text of each script, by its path below the root. */
  private static final Map<String, String> SCRIPTS = new HashMap<>();

  /** The same of each script and page. DocumentsTest looks up the files that pages name. */
  private static final Map<String, String> TEXTS = new HashMap<>();

  /** Names of the classes and packages whose sources are here. */
  private static final Set<String> NAMES = new TreeSet<>();

  private static final StringBuilder TEST_SOURCES = new StringBuilder();

  @BeforeAll
  static void readSources() throws IOException {
    try (Stream<Path> tree = Files.walk(ROOT)) {
      for (Path file : tree.filter(ScriptsTest::isOurs).toList()) {
        String path = ROOT.relativize(file).toString();
        if (path.endsWith(".java")) {
          addNames(path.replaceFirst("^.*?java/", "").replaceFirst("\\.java$", ""));
          if (path.contains("src/test/")) {
            TEST_SOURCES.append(Files.readString(file));
          }
        } else if (path.endsWith(".md")) {
          TEXTS.put(path, Files.readString(file));
        } else if (isScript(file)) {
          SCRIPTS.put(path, Files.readString(file));
        }
      }
    }
    TEXTS.putAll(SCRIPTS);
    assertThat(TEXTS).containsKeys("bin/test", "src/test/vm/check", "CONTRIBUTING.md");
  }

  private static boolean isOurs(Path file) {
    String path = "/" + ROOT.relativize(file);
    return Files.isRegularFile(file) && !path.contains("/target/") && !path.contains("/.git/");
  }

  private static boolean isScript(Path file) throws IOException {
    String name = file.getFileName().toString();
    if (name.endsWith(".sh")) {
      return true;
    }
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines.findFirst().orElse("").matches("#!.*\\b(ba|busybox )?sh");
    }
  }

  private static void addNames(String path) {
    String name = path.replace('/', '.');
    while (name.contains(".")) {
      NAMES.add(name);
      name = name.substring(0, name.lastIndexOf('.'));
    }
  }

  @Test
  void shouldNameFilesThatExist() {
    assertThat(missing(SCRIPTS, PATH, ScriptsTest::isFile)).isEmpty();
  }

  private static boolean isFile(String path) {
    return path.contains("target") || Files.exists(ROOT.resolve(path));
  }

  @Test
  void shouldNameModulesThatExist() {
    assertThat(missing(TEXTS, MODULES, ScriptsTest::areModules)).isEmpty();
  }

  private static boolean areModules(String list) {
    return Stream.of(list.split(","))
        .allMatch(module -> Files.exists(ROOT.resolve(module).resolve("pom.xml")));
  }

  @Test
  void shouldNameClassesAndPackagesThatExist() {
    assertThat(missing(TEXTS, NAME, name -> name.equals(MOVED) || NAMES.contains(name))).isEmpty();
  }

  @Test
  void shouldNameTestsThatExist() {
    assertThat(missing(TEXTS, TEST, ScriptsTest::isTest)).isEmpty();
    assertThat(missing(TEXTS, METHOD, name -> TEST_SOURCES.indexOf(" " + name + "(") >= 0))
        .isEmpty();
  }

  private static boolean isTest(String pattern) {
    Pattern name = Pattern.compile(".*\\." + pattern.replace("*", "\\w*"));
    return NAMES.stream().anyMatch(each -> name.matcher(each).matches());
  }

  /** Names that {@code pattern} finds in {@code texts} and {@code exists} does not know. */
  private static List<String> missing(
      Map<String, String> texts, Pattern pattern, Predicate<String> exists) {
    List<String> missing = new ArrayList<>();
    texts.forEach(
        (file, text) ->
            pattern
                .matcher(text)
                .results()
                .map(ScriptsTest::lastGroup)
                .filter(exists.negate())
                .forEach(found -> missing.add(file + ": " + found)));
    return missing;
  }

  private static String lastGroup(MatchResult found) {
    return found.group(found.groupCount());
  }
}
