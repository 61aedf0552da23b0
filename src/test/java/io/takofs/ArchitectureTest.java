package io.takofs;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The arrows of ARCHITECTURE.md, kept. */
class ArchitectureTest {
  /** Classes of one package at most; what protoc makes does not count. */
  private static final int CLASSES_MAX = 40;

  private static final String[] CORE = {
    "io.takofs.base..",
    "io.takofs.layout..",
    "io.takofs.jni..",
    "io.takofs.memory..",
    "io.takofs.transport..",
    "io.takofs.rpc..",
    "io.takofs.config..",
    "io.takofs.client.."
  };

  private static final Path BENCHMARKS = Path.of("../../bench");

  private static JavaClasses classes;

  @BeforeAll
  static void importClasses() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // Classes of others that the plug-in's jar carries.
            .withImportOption(location -> !location.contains("/io/takofs/shaded/"))
            .importPackages("io.takofs");
  }

  @Test
  void shouldKeepHadoopOutOfEverythingButThePlugin() {
    noClasses()
        .that()
        .resideInAnyPackage(CORE)
        .or()
        .resideInAnyPackage("io.takofs.server..", "io.takofs.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.hadoop..")
        .check(classes);
  }

  @Test
  void shouldPointArrowsFromServerAndPluginToCoreOnly() {
    noClasses()
        .that()
        .resideInAnyPackage(CORE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.takofs.server..", "io.takofs.cli..", "io.takofs.hadoop..")
        .check(classes);
    noClasses()
        .that()
        .resideInAPackage("io.takofs.hadoop..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.takofs.server..", "io.takofs.cli..")
        .check(classes);
    noClasses()
        .that()
        .resideInAPackage("io.takofs.server..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.takofs.cli..", "io.takofs.hadoop..", "io.takofs.client..")
        .check(classes);
    noClasses()
        .that()
        .resideInAPackage("io.takofs.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.takofs.hadoop..")
        .check(classes);
  }

  @Test
  void shouldReachNativeCodeOnlyBehindMemoryAndTransport() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.takofs.jni..", "io.takofs.memory..", "io.takofs.transport..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.takofs.jni..")
        .check(classes);
  }

  @Test
  void shouldUseThePluginsOperationsFromThePluginOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.takofs.hadoop..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.takofs.hadoop.internal..")
        .check(classes);
  }

  @Test
  void shouldKeepTheInsideOfTheClientToItself() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.takofs.client..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.takofs.client.internal..")
        .check(classes);
  }

  @Test
  void shouldHaveNoPackageOfMoreThanFortyClasses() {
    Map<String, Long> sizes =
        classes.stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .filter(type -> !type.getPackageName().startsWith("io.takofs.proto"))
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    sizes.values().removeIf(size -> size <= CLASSES_MAX);
    assertThat(sizes).isEmpty();
  }

  /**
   * Time, pauses and chance are passed in, so that a simulation owns them. Exceptions: the clock of
   * the machine is what is passed in; transports wait for the kernel and for devices, and the
   * simulation has one of its own; the command line is run by people and nobody simulates it; the
   * benchmarks measure time.
   */
  @Test
  void shouldTakeTimeAndChanceFromOutside() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.takofs.transport..", "io.takofs.cli..", "io.takofs.bench..")
        .and()
        .haveNameNotMatching("io\\.takofs\\.base\\.Clock(\\$.*)?")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .orShould()
        .callConstructor(Date.class)
        .orShould()
        .callMethod(Math.class, "random")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(ThreadLocalRandom.class)
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .check(classes);
  }

  @Test
  void shouldHaveNoPackageCycles() {
    slices().matching("io.takofs.(**)").should().beFreeOfCycles().check(classes);
  }

  /** Benchmarks are not on the class path of tests: their names are those of their files. */
  @Test
  void shouldUseEachSimpleNameOnce() throws IOException {
    Map<String, Set<String>> places = new TreeMap<>();
    for (JavaClass type : classes) {
      if (type.isTopLevelClass() && !type.getSimpleName().equals("package-info")) {
        places.computeIfAbsent(type.getSimpleName(), n -> new TreeSet<>()).add(type.getName());
      }
    }
    List<String> benchmarks = benchmarks();
    assertThat(benchmarks).isNotEmpty();
    for (String name : benchmarks) {
      String simple = name.substring(name.lastIndexOf('.') + 1);
      places.computeIfAbsent(simple, n -> new TreeSet<>()).add(name);
    }
    places.values().removeIf(names -> names.size() == 1);
    assertThat(places).isEmpty();
  }

  private static List<String> benchmarks() throws IOException {
    String sources = "/src/main/java/";
    try (Stream<Path> files = Files.walk(BENCHMARKS)) {
      return files
          .map(Path::toString)
          .filter(file -> file.contains(sources) && file.endsWith(".java"))
          .filter(file -> !file.endsWith("/package-info.java"))
          .map(file -> file.substring(file.indexOf(sources) + sources.length()))
          .map(file -> file.replace(".java", "").replace('/', '.'))
          .toList();
    }
  }
}
