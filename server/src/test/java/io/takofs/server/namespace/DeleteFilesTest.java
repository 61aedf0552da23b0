package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.DeleteFiles;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeleteFilesTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private static Request.Builder request(String base, List<String> names) {
    return Request.newBuilder()
        .setDeleteFiles(DeleteFiles.newBuilder().setBase(base).addAllNames(names));
  }

  @Test
  void shouldDeleteOneAfterTheOther() {
    client.mkdirs("/d/e");
    client.file("/d/f", 100_000);
    client.closeInline(client.opened("/d/e/g"), "data");
    Reply reply = client.call(request("/d", List.of("e/g", "e", "f", "f", "none", "none/x", "")));
    assertOk(reply);
    assertThat(reply.getDeleteResults().getFailedList()).isEmpty();
    assertThat(client.names("/")).isEmpty();
    server.reclaimAll();
    assertThat(server.free()).isEqualTo(server.machine.usage().getCapacity());
  }

  @Test
  void shouldSayWhatCouldNotBeDeletedAndGoOn() {
    Harness.Client alice = server.client("alice");
    client.mkdirs("/d", 0777);
    client.mkdirs("/d/full/x");
    client.mkdirs("/d/closed");
    client.closeInline(client.opened("/d/closed/f"), "data");
    client.closeInline(client.opened("/d/f"), "data");
    Reply reply = alice.call(request("/d", List.of("full", "closed/f", "bad//name", "f")));
    assertThat(reply.getDeleteResults().getFailedList()).containsExactly(0, 1, 2);
    assertThat(reply.getDeleteResults().getReasonsList())
        .containsExactly(Status.NOT_EMPTY, Status.PERMISSION_DENIED, Status.INVALID_ARGUMENT);
    assertThat(client.names("/d")).containsExactly("closed", "full");
  }

  @Test
  void shouldAnswerARepeatedCallAsBefore() {
    client.mkdirs("/full/x");
    Request.Builder request = request("/", List.of("full"));
    Reply first = client.call(request);
    assertThat(first.getDeleteResults().getFailedList()).containsExactly(0);
    assertOk(server.superuser().delete("/full/x", false));
    assertThat(server.apply(client.entry(request, client.sequence))).isEqualTo(first);
    assertThat(client.names("/")).containsExactly("full");
  }

  @Test
  void shouldRefuseMoreThanOneEntryMayChange() {
    assertStatus(client.call(request("/", Collections.nCopies(17, "f"))), Status.INVALID_ARGUMENT);
  }
}
