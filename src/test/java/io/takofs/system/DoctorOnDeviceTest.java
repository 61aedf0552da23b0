package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Output of {@code tako doctor} about the soft-RoCE device of bin/vm. */
@Tag("verbs")
class DoctorOnDeviceTest {
  private static final Path HUGE_PAGES = Path.of("/proc/sys/vm/nr_hugepages");

  @Test
  void shouldDescribeTheDevice() throws Exception {
    assumeTrue(System.getenv("TAKO_VM") != null, "not run, bin/vm runs it: it knows the device");
    JsonObject port = port();
    assertThat(port.get("device").getAsString()).isEqualTo("rxe0");
    assertThat(port.get("port").getAsInt()).isEqualTo(1);
    assertThat(port.get("state").getAsString()).isEqualTo("ACTIVE");
    assertThat(port.get("link_layer").getAsString()).isEqualTo("Ethernet");
    assertThat(port.get("active_mtu").getAsInt()).isIn(256, 512, 1024, 2048, 4096);
    assertThat(port.get("gid_index").getAsInt()).isNotNegative();
    assertThat(port.get("gid_type").getAsString()).isEqualTo("RoCE v2");
    assertThat(port.getAsJsonArray("addresses"))
        .extracting(JsonElement::getAsString)
        .hasSize(1)
        .allMatch(address -> address.matches("[0-9.]+"));
    for (String limit :
        List.of("max_queue_pairs", "max_regions", "max_completions", "max_scatter_gather")) {
      assertThat(port.get(limit).getAsInt()).as(limit).isGreaterThan(1);
    }
    assertThat(port.get("max_region_bytes").getAsLong()).isGreaterThanOrEqualTo(1L << 30);
    assertThat(port.get("memory_windows_2b").getAsBoolean()).isTrue();
    assertThat(port.get("memory_window_bounds").getAsString()).isEqualTo("no"); // as was tried
    // A device that nobody vouches for: the library was asked and says no.
    assertThat(port.get("data_in_order").getAsString()).isEqualTo("no");
    assertThat(port.get("registers_huge_pages").getAsString()).startsWith("not tried: none");

    Files.writeString(HUGE_PAGES, "2");
    assertThat(port().get("registers_huge_pages").getAsString()).isEqualTo("yes");
  }

  private static JsonObject port() throws Exception {
    Process doctor = new ProcessBuilder(ServerProcess.launcher(), "doctor", "--json").start();
    String said = new String(doctor.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String complained = new String(doctor.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    System.out.println(said);
    assertThat(doctor.waitFor()).as(complained).isZero();
    JsonObject diagnosis = JsonParser.parseString(said).getAsJsonObject();
    assertThat(diagnosis.getAsJsonArray("problems")).isEmpty();
    return diagnosis.getAsJsonObject("verbs").getAsJsonArray("ports").get(0).getAsJsonObject();
  }
}
