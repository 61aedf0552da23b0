import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Lists what a release bundles, with licences: jars, and what other jars were merged into them. Copies
 * the licences and notices beside it, and adds the merged parts to the bill of materials. Fails when a
 * jar is not in the bill, or when something has no licence in {@code licenses/components}.
 *
 * <p>Run by bin/dist: {@code ThirdParty HOME LICENSES BILL VERSION}.
 */
public final class ThirdParty {
  /** A library by its coordinates. */
  private record Library(String group, String artifact, String version)
      implements Comparable<Library> {
    String name() {
      return group + ":" + artifact;
    }

    @Override
    public int compareTo(Library other) {
      return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
      return name() + ":" + version;
    }
  }

  /** A line of {@code components}: a licence, and the files with its text and notices. */
  private record Licence(String id, List<String> files) {}

  private final Path home;
  private final Path texts;
  private final JsonObject bill;
  private final Library plugin;
  private final Map<String, Licence> licences = new TreeMap<>();
  private final Map<Library, List<Library>> declaredInside = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();
  private final StringBuilder page = new StringBuilder();

  private ThirdParty(Path home, Path texts, Path bill, String version) throws IOException {
    this.home = home;
    this.texts = texts;
    this.bill = JsonParser.parseString(Files.readString(bill)).getAsJsonObject();
    plugin = new Library("io.takofs", "tako-hadoop", version);
    for (String line : Files.readAllLines(texts.resolve("components"))) {
      String[] words = line.strip().split("\\s+");
      if (words[0].equals("inside")) {
        declaredInside
            .computeIfAbsent(library(words[1]), outer -> new ArrayList<>())
            .add(library(words[2]));
      } else if (!words[0].isEmpty() && !words[0].startsWith("#")) {
        licences.put(words[0], new Licence(words[1], List.of(words).subList(2, words.length)));
      }
    }
  }

  /** Writes all that it says above. */
  public static void main(String[] arguments) throws Exception {
    Path bill = Path.of(arguments[2]);
    ThirdParty bundle =
        new ThirdParty(Path.of(arguments[0]), Path.of(arguments[1]), bill, arguments[3]);
    bundle.list();
    if (!bundle.problems.isEmpty()) {
      bundle.problems.forEach(problem -> System.err.println("bin/dist: " + problem));
      System.exit(1);
    }
    Files.writeString(bundle.home.resolve("THIRD-PARTY.txt"), bundle.page.toString());
    Files.writeString(
        bundle.home.resolve("bom.json"),
        new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(bundle.bill)
            + "\n");
  }

  private static Library library(String coordinates) {
    String[] parts = coordinates.split(":");
    return new Library(parts[0], parts[1], parts[2]);
  }

  private void list() throws Exception {
    page.append("The contents of this archive by Maven coordinates, with their licences. Parts\n")
        .append("that were merged into a jar stand below it. The texts are in licenses/, LICENSE\n")
        .append("is that of Tako itself.\n");
    Map<String, JsonObject> components = componentsByHash();
    Set<Path> jars = new TreeSet<>();
    try (Stream<Path> files = Files.walk(home)) {
      files.filter(file -> file.toString().endsWith(".jar")).forEach(jars::add);
    }
    for (Path jar : jars) {
      JsonObject component = components.get(sha256(jar));
      if (component == null) {
        problems.add(
            home.relativize(jar) + " is not in the bill of materials: build without --no-build");
        continue;
      }
      Library library =
          new Library(text(component, "group"), text(component, "name"), text(component, "version"));
      page.append('\n').append(home.relativize(jar)).append('\n');
      describe("  ", library);
      JsonArray merged = new JsonArray();
      for (Library part : partsOf(jar, library, jars, components)) {
        describe("    ", part);
        merged.add(component(part));
      }
      if (!merged.isEmpty()) {
        component.add("components", merged);
      }
      copyNotices(jar);
    }
    declaredInside.keySet().forEach(left -> problems.add("components: " + left + " is not bundled"));
  }

  private Map<String, JsonObject> componentsByHash() {
    Map<String, JsonObject> components = new TreeMap<>();
    for (JsonElement each : bill.getAsJsonArray("components")) {
      for (JsonElement hash : each.getAsJsonObject().getAsJsonArray("hashes")) {
        components.put(text(hash.getAsJsonObject(), "content"), each.getAsJsonObject());
      }
    }
    return components;
  }

  private static String text(JsonObject object, String name) {
    return object.get(name).getAsString();
  }

  private void describe(String indent, Library library) throws IOException {
    Licence licence = licence(library);
    if (licence == null) {
      problems.add("no licence is known of " + library + ": add it to dist/licenses/components");
      return;
    }
    page.append(indent).append(library).append("  ").append(licence.id());
    for (String file : licence.files()) {
      boolean own = file.equals("LICENSE");
      page.append(own ? "  " : "  licenses/").append(file);
      if (!own) {
        copy(Files.readAllBytes(texts.resolve(file)), Path.of(file));
      }
    }
    page.append('\n');
  }

  private Licence licence(Library library) {
    Licence exact = licences.get(library.name());
    return exact != null ? exact : licences.get(library.group() + ":*");
  }

  /** Libraries merged into a jar: by the Maven descriptors in it, by declaration, by its classes. */
  private Set<Library> partsOf(
      Path jar, Library itself, Set<Path> jars, Map<String, JsonObject> components)
      throws Exception {
    Set<Library> parts = new TreeSet<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : entries(zip)) {
        if (entry.getName().matches("META-INF/maven/.*/pom.properties")) {
          Properties part = new Properties();
          part.load(zip.getInputStream(entry));
          parts.add(
              new Library(
                  part.getProperty("groupId"),
                  part.getProperty("artifactId"),
                  part.getProperty("version")));
        }
      }
      if (itself.equals(plugin)) {
        for (Path other : jars) {
          JsonObject component = components.get(sha256(other));
          if (component != null && !other.equals(jar) && isIn(zip, other)) {
            parts.add(
                new Library(
                    text(component, "group"), text(component, "name"), text(component, "version")));
          }
        }
      }
    }
    List<Library> declared = declaredInside.remove(itself);
    parts.addAll(declared == null ? List.of() : declared);
    parts.remove(itself);
    return parts;
  }

  /** Whether the classes of {@code other} are in the plug-in's jar, where shading puts them. */
  private static boolean isIn(ZipFile plugin, Path other) throws IOException {
    try (ZipFile zip = new ZipFile(other.toFile())) {
      return entries(zip).stream()
          .map(ZipEntry::getName)
          .filter(name -> name.endsWith(".class") && !name.startsWith("META-INF/"))
          .findFirst()
          .filter(
              name ->
                  plugin.getEntry("io/takofs/shaded/" + name) != null
                      || plugin.getEntry(name) != null)
          .isPresent();
    }
  }

  private static List<? extends ZipEntry> entries(ZipFile zip) {
    return zip.stream().filter(entry -> !entry.isDirectory()).toList();
  }

  private JsonObject component(Library part) {
    JsonObject component = new JsonObject();
    component.addProperty("type", "library");
    component.addProperty("group", part.group());
    component.addProperty("name", part.artifact());
    component.addProperty("version", part.version());
    Licence licence = licence(part);
    if (licence != null) {
      JsonObject id = new JsonObject();
      id.addProperty("id", licence.id());
      JsonObject choice = new JsonObject();
      choice.add("license", id);
      JsonArray choices = new JsonArray();
      choices.add(choice);
      component.add("licenses", choices);
    }
    component.addProperty(
        "purl",
        "pkg:maven/" + part.group() + "/" + part.artifact() + "@" + part.version() + "?type=jar");
    return component;
  }

  /** The licence and notice that a jar brings along, and the texts that those refer to. */
  private void copyNotices(Path jar) throws IOException {
    String name = jar.getFileName().toString().replaceAll("\\.jar$", "");
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : entries(zip)) {
        if (entry.getName().matches("META-INF/((LICENSE|NOTICE)[^/]*|license/[^/]+)")) {
          byte[] content = zip.getInputStream(entry).readAllBytes();
          copy(content, Path.of(name, entry.getName().substring("META-INF/".length())));
        }
      }
    }
  }

  private void copy(byte[] content, Path name) throws IOException {
    Path file = home.resolve("licenses").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, new String(content, UTF_8));
  }

  private static String sha256(Path file) throws IOException, NoSuchAlgorithmException {
    return HexFormat.of()
        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
  }
}
