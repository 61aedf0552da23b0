package io.takofs.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.system.Browser;
import io.takofs.system.Poll;
import io.takofs.system.ServerProcess;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The documents, held against the product. A shell block whose fence says {@code bash run} is
 * executed in the checkout; the others need hours, devices or another host, so only the programs
 * that they name are looked up.
 */
@Timeout(600)
class DocumentsTest {
  private static final int COMMANDS_S = 180;
  private static final Duration DRAWN = Duration.ofSeconds(90);

  /** Dependencies of the build that a page may name before it has been made. */
  private static final List<String> BUILT = List.of("target/");

  private static final Path ROOT = root();

  @TempDir private Path directory;

  private static Path root() {
    Path launcher = Path.of(ServerProcess.launcher());
    return launcher.toAbsolutePath().getParent().getParent();
  }

  @TestFactory
  Stream<DynamicTest> shouldRunTheCommandsThatAreMarked() throws IOException {
    List<MarkdownPage> pages =
        MarkdownPage.all(ROOT).stream().filter(each -> !each.blocks("bash run").isEmpty()).toList();
    assertThat(pages).hasSizeGreaterThanOrEqualTo(3);
    return pages.stream().map(page -> DynamicTest.dynamicTest(page.toString(), () -> run(page)));
  }

  private void run(MarkdownPage page) throws Exception {
    Path output = directory.resolve(page + ".output");
    String script = "set -eux -o pipefail\n" + String.join("\n", page.blocks("bash run")) + "\n";
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", script)
            .directory(ROOT.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().keySet().removeAll(List.of("TAKO_URI", "TAKO_CONF", "TAKO_SERVER_OPTS"));
    // `tako dev` keeps its state below it: the server of whoever runs this test stays alone.
    builder.environment().put("TAKO_CLIENT_OPTS", "-Djava.io.tmpdir=" + directory);
    Process shell = builder.start();
    try {
      assertThat(shell.waitFor(COMMANDS_S, TimeUnit.SECONDS))
          .as("%s ended in time: %s", page, Files.readString(output))
          .isTrue();
      assertThat(shell.exitValue()).as(Files.readString(output)).isZero();
    } finally {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
  }

  @Test
  void shouldNameProgramsThatExist() throws IOException {
    List<String> missing = new ArrayList<>();
    for (MarkdownPage page : MarkdownPage.all(ROOT)) {
      for (String program : page.programs()) {
        boolean isBuilt = BUILT.stream().anyMatch(program::contains);
        if (!isBuilt && !Files.exists(ROOT.resolve(program))) {
          missing.add(page + ": " + program);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void shouldLinkToWhatExists() throws IOException {
    List<String> broken = new ArrayList<>();
    for (MarkdownPage page : MarkdownPage.all(ROOT)) {
      for (String link : page.links()) {
        if (!link.startsWith("http") && !resolves(page, link)) {
          broken.add(page + ": " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** The release archive has this directory and no sources, see {@code bin/dist}. */
  @Test
  void shouldLinkFromTheDocumentsToNoSource() throws IOException {
    Path documents = ROOT.resolve("docs");
    List<String> outside = new ArrayList<>();
    for (MarkdownPage page : MarkdownPage.all(ROOT)) {
      for (String link : page.links()) {
        Path target = page.file().resolveSibling(link).normalize();
        if (page.file().startsWith(documents)
            && !link.startsWith("http")
            && !target.startsWith(documents)) {
          outside.add(page + ": " + link);
        }
      }
    }
    assertThat(outside).isEmpty();
  }

  private static boolean resolves(MarkdownPage page, String link) throws IOException {
    String name = link.replaceFirst("#.*$", "");
    Path target = name.isEmpty() ? page.file() : page.file().resolveSibling(name);
    String anchor = MarkdownPage.anchorOf(link);
    return Files.exists(target)
        && (anchor.isEmpty() || MarkdownPage.read(target).anchors().contains(anchor));
  }

  @Test
  void shouldHaveTheConfigurationReferenceThatTheProgramPrints() throws Exception {
    assertThat(Files.readString(ROOT.resolve("docs/configuration.md")))
        .as("make it anew: bin/tako config doc > docs/configuration.md")
        .isEqualTo(tako("config", "doc"));
  }

  @Test
  void shouldShowTheConfigurationThatTheProgramPrints() throws Exception {
    String printed = tako("conf", "tako://host:7420").replaceAll("\\s+", "");
    int shown = 0;
    for (MarkdownPage page : MarkdownPage.all(ROOT)) {
      for (String block : page.blocks("xml")) {
        for (String line : block.lines().toList()) {
          assertThat(printed).as("%s shows %s", page, line).contains(line.replaceAll("\\s+", ""));
          shown++;
        }
      }
    }
    assertThat(shown).isGreaterThanOrEqualTo(6);
  }

  private static String tako(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(ServerProcess.launcher()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isZero();
    return said;
  }

  @Test
  void shouldRunTheJavaProgram() throws Exception {
    String program =
        MarkdownPage.read(ROOT.resolve("docs/hadoop.md")).blocks("java").stream()
            .collect(Collectors.joining());
    Path source = Files.writeString(directory.resolve("Hello.java"), program);
    String jars = System.getProperty("java.class.path");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-cp", jars, "-d", directory.toString(), source.toString());
    assertThat(compiled).isZero();
    try (ServerProcess server = ServerProcess.start()) {
      Process hello =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  directory + File.pathSeparator + jars,
                  "Hello",
                  server.uri().toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      assertThat(new String(hello.getInputStream().readAllBytes(), UTF_8)).isEqualTo("hello\n");
      assertThat(hello.waitFor()).isZero();
    }
  }

  @Test
  void shouldDrawItsDiagrams() throws Exception {
    Browser.assumeInstalled();
    List<String> diagrams = new ArrayList<>();
    for (MarkdownPage page : MarkdownPage.all(ROOT)) {
      diagrams.addAll(page.blocks("mermaid"));
    }
    assertThat(diagrams).hasSizeGreaterThanOrEqualTo(3);
    try (InputStream library = getClass().getResourceAsStream(mermaid())) {
      Files.copy(library, directory.resolve("mermaid.js"));
    }
    Files.writeString(directory.resolve("page.html"), page(diagrams));
    try (Browser browser = new Browser(directory.resolve("chromium"))) {
      browser.open(directory.resolve("page.html").toUri(), 1200, 800, false);
      String count = "document.querySelectorAll('p').length";
      Poll.until(
          "each diagram is drawn, or has failed",
          DRAWN,
          () -> browser.evaluate(count).getAsInt() == diagrams.size());
      String dom = browser.dom();
      for (int i = 0; i < diagrams.size(); i++) {
        assertThat(dom).as(diagrams.get(i)).contains("<p>drawn " + i + "</p>");
      }
    }
  }

  /** The script in the jar of Mermaid, whatever its version. */
  private static String mermaid() throws IOException {
    String jar =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .filter(each -> each.matches(".*/mermaid-[0-9.]+\\.jar"))
            .findFirst()
            .orElseThrow(() -> new IOException("no jar of Mermaid is on the class path"));
    String version = jar.replaceFirst(".*/mermaid-([0-9.]+)\\.jar", "$1");
    return "/META-INF/resources/webjars/mermaid/" + version + "/dist/mermaid.min.js";
  }

  /** A page that draws each diagram and says which it could draw. */
  private static String page(List<String> diagrams) {
    StringBuilder page = new StringBuilder("<!doctype html><meta charset=utf-8><body>");
    for (int i = 0; i < diagrams.size(); i++) {
      String text = diagrams.get(i).replace("&", "&amp;").replace("<", "&lt;");
      page.append("<pre id=source").append(i).append(">").append(text).append("</pre>");
    }
    page.append("<script src=mermaid.js></script><script>mermaid.initialize({startOnLoad:false});");
    page.append("(async()=>{for(let i=0;i<").append(diagrams.size()).append(";i++){let say;");
    page.append("try{const drawn=await mermaid.render('d'+i,");
    page.append("document.getElementById('source'+i).textContent);");
    page.append(
        "say=drawn.svg.includes('<svg')?'drawn '+i:'empty '+i}catch(e){say='failed '+i+' '+e}");
    page.append(
        "const p=document.createElement('p');p.textContent=say;document.body.append(p)}})()");
    return page.append("</script>").toString();
  }
}
