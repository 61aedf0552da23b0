package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.takofs.proto.Append;
import io.takofs.proto.Delete;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.Leases;
import io.takofs.proto.ListLeases;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class LeaseTest {
  @TempDir Path directory;

  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), new ManualClock());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void shouldTellTheSuperuserWhoWritesAndOthersWhatTheyWrite() throws Exception {
    try (TestClient root = new TestClient(server, TestServer.SUPERUSER);
        TestClient bob = new TestClient(server, "bob")) {
      ok(root.call(mkdirs("/a")));
      ok(root.call(TestClient.create("/a/mine", 0)));
      ok(
          root.call(
              Request.newBuilder()
                  .setSetAttributes(SetAttributes.newBuilder().setPath("/a").setPermission(0777))
                  .build()));
      ok(bob.call(TestClient.create("/a/his", 0)));
      server.pass(3000);
      assertThat(leases(root, 0, 0).getLeasesList())
          .extracting(LeaseInfo::getPath, LeaseInfo::getName, LeaseInfo::getUser)
          .containsExactlyInAnyOrder(
              tuple("/a/mine", "mine", TestServer.SUPERUSER), tuple("/a/his", "his", "bob"));
      assertThat(leases(bob, 0, 0).getLeasesList())
          .extracting(LeaseInfo::getPath, LeaseInfo::getOpenMs)
          .containsExactly(tuple("/a/his", 3000L));
      Leases first = leases(root, 0, 1);
      Leases second = leases(root, first.getNextAfter(), 1);
      assertThat(List.of(first.getLeases(0).getName(), second.getLeases(0).getName()))
          .containsExactlyInAnyOrder("mine", "his");
      assertThat(second.getNextAfter()).isZero();
    }
  }

  @Test
  void shouldPageLeasesOfFilesWithTheLongestPaths() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      String directory = ("/" + "d".repeat(249)).repeat(31);
      ok(client.call(mkdirs(directory)));
      Set<String> opened = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        String path = directory + "/" + "f".repeat(200) + i;
        ok(client.call(TestClient.create(path, 0)));
        opened.add(path);
      }
      Set<String> seen = new HashSet<>();
      long after = 0;
      do {
        Leases page = leases(client, after, 0);
        page.getLeasesList().forEach(lease -> assertThat(seen.add(lease.getPath())).isTrue());
        after = page.getNextAfter();
      } while (after != 0);
      assertThat(seen).isEqualTo(opened);
    }
  }

  private static Leases leases(TestClient client, long after, int limit) throws Exception {
    return ok(client.call(
            Request.newBuilder()
                .setListLeases(ListLeases.newBuilder().setAfterFileId(after).setLimit(limit))
                .build()))
        .getLeases();
  }

  @Test
  void shouldLetOthersTakeOverTheFileOfASilentWriter() throws Exception {
    try (TestClient silent = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      Reply opened = ok(silent.call(TestClient.create("/f", 65536)));
      Request append = Request.newBuilder().setAppend(Append.newBuilder().setPath("/f")).build();
      assertThat(other.call(append).getStatus()).isEqualTo(Status.LEASE_HELD);
      server.pass(50_000);
      ok(silent.call(Request.newBuilder().setRenewLeases(RenewLeases.newBuilder()).build()));
      server.pass(50_000);
      assertThat(other.call(append).getStatus()).isEqualTo(Status.LEASE_HELD);
      server.pass(20_000);
      assertThat(other.call(append).getStatus()).isEqualTo(Status.OK);

      Reply late =
          silent.call(
              Request.newBuilder()
                  .setGrantExtents(
                      GrantExtents.newBuilder()
                          .setFileId(opened.getOpenedFile().getFile().getId())
                          .setLeaseEpoch(opened.getOpenedFile().getLeaseEpoch())
                          .setBytes(65536))
                  .build());
      assertThat(late.getStatus()).isEqualTo(Status.LEASE_LOST);
    }
  }

  @Test
  void shouldCloseTheFilesOfAWriterThatIsSilentForTheHardLimit() throws Exception {
    try (TestClient silent = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      ok(silent.call(TestClient.create("/f", 65536)));
      server.pass(19 * 60_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(1);
      server.pass(2 * 60_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(0);
    }
  }

  @Test
  void shouldSayWhetherALeaseIsHeld() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      Reply opened = ok(writer.call(TestClient.create("/f", 0)));
      RenewLeases.Builder lease =
          RenewLeases.newBuilder()
              .setFileId(opened.getOpenedFile().getFile().getId())
              .setLeaseEpoch(opened.getOpenedFile().getLeaseEpoch());
      Request renewal = Request.newBuilder().setRenewLeases(lease).build();
      ok(writer.call(renewal));
      assertThat(other.call(renewal).getStatus()).isEqualTo(Status.LEASE_LOST);
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      assertThat(writer.call(renewal).getStatus()).isEqualTo(Status.LEASE_LOST);
      ok(writer.call(Request.newBuilder().setRenewLeases(RenewLeases.newBuilder()).build()));
    }
  }
}
