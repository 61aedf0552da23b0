package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.DeleteFiles;
import io.takofs.proto.DeleteResults;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import io.takofs.server.store.Store;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeleteFilesTest {
  private Harness server = new Harness();
  private Harness.Client client = server.superuser();

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

  /** Files f0, f1 and so on in the root. */
  private List<String> files(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("f" + i);
      client.closeInline(client.opened("/f" + i), "data");
    }
    return names;
  }

  @Test
  void shouldDeleteInPartsWhatIsTooMuchForOneEntry() {
    List<String> names = files(100);
    client.mkdirs("/f40x/full");
    names.add(40, "f40x");
    int before = server.log.size();
    Reply reply = assertOk(client.deleteFiles("/", names));
    assertThat(reply.getDeleteResults().getRemaining()).isZero();
    assertThat(reply.getDeleteResults().getFailedList()).containsExactly(40);
    assertThat(client.names("/")).containsExactly("f40x");
    assertThat(server.log).hasSize(before + 7);
    assertThat(client.goOn(request("/", names).build(), 1000)).isEqualTo(reply);
    assertThat(server.log).hasSize(before + 7);
  }

  @Test
  void shouldRefuseMoreThanACallMayName() {
    assertThatThrownBy(
            () -> StateMachine.next(request("/", Collections.nCopies(257, "f")).build(), null))
        .hasFieldOrPropertyWithValue("status", Status.INVALID_ARGUMENT);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
  void shouldGoOnWhereARestartEndedIt(int partsBefore) {
    PagedStores pages = new PagedStores(1024);
    server = new Harness(pages.open(), List.of(4 * Harness.MIB));
    client = server.superuser();
    List<String> names = files(100);
    server.store.checkpoint(server.log.size());
    client.sequence++;
    client.goOn(request("/", names).build(), partsBefore);
    // Somebody makes again what was deleted: that is not what the call means.
    Harness.Client other = server.superuser();
    List<String> again = names.subList(0, Math.min(100, 16 * partsBefore));
    again.forEach(name -> other.closeInline(other.opened("/" + name), "new"));

    PagedStore store = pages.open();
    server.restart(store);
    for (int i = (int) store.checkpointIndex(); i < server.log.size(); i++) {
      assertThat(server.machine.apply(i + 1, server.log.get(i))).isEqualTo(server.replies.get(i));
    }
    Reply reply = client.goOn(request("/", names).build(), 1000);
    assertOk(reply);
    assertThat(reply.getDeleteResults()).isEqualTo(DeleteResults.getDefaultInstance());
    assertThat(client.names("/")).containsExactlyInAnyOrderElementsOf(again);
  }

  /** Says that there is room so often, and then that there is none. */
  private static Store withRoom(AtomicInteger answers, Store store) {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (self, method, arguments) ->
                method.getName().equals("hasRoom") && answers.getAndDecrement() <= 0
                    ? false
                    : method.invoke(store, arguments));
  }

  @Test
  void shouldNotDeleteTwiceWhatHadNoRoomForItsResult() {
    AtomicInteger answers = new AtomicInteger(1000);
    server = new Harness(withRoom(answers, new HeapStore(Long.MAX_VALUE)), List.of(Harness.MIB));
    client = server.superuser();
    List<String> names = files(3);
    client.sequence++;
    answers.set(1);
    assertStatus(client.goOn(request("/", names).build(), 1), Status.NO_SPACE);
    assertThat(client.names("/")).containsExactly("f1", "f2");
    answers.set(1000);
    Harness.Client other = server.superuser();
    other.closeInline(other.opened("/f0"), "new");
    assertOk(client.goOn(request("/", names).build(), 1));
    assertThat(client.names("/")).containsExactly("f0");
  }

  @Test
  void shouldRefuseAnotherCallWithTheNumberOfOneThatIsNotDone() {
    Reply partial =
        Reply.newBuilder().setDeleteResults(DeleteResults.newBuilder().setRemaining(2)).build();
    Request other = Request.newBuilder().setMkdirs(Mkdirs.newBuilder().setPath("/d")).build();
    assertThatThrownBy(() -> StateMachine.next(other, partial))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.MALFORMED));
  }
}
