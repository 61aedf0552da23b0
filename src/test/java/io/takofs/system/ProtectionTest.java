package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Arenas;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Request;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.transport.CompletionStatus;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client over verbs writes its grants and nothing else: each other attempt is refused by the
 * device, and the file of another stays as it is.
 */
@Tag("verbs")
@Timeout(300)
class ProtectionTest {
  private static final String VICTIM = "/victim";
  private static final int VICTIM_BYTES = 1 << 20;

  private LocalServer server;
  private TakoClient owner;
  private RawClient attacker;
  private Arenas arenas;
  private OpenedFile opened;

  @BeforeEach
  void openAFileToWrite() throws Exception {
    server = new LocalServer("128m");
    owner = server.connect("verbs");
    byte[] content = new byte[VICTIM_BYTES];
    Pattern.fill(VICTIM, 0, content, content.length);
    try (TakoOutputStream out = owner.create(VICTIM, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    attacker = new RawClient(server.uri());
    arenas = attacker.connectData();
    opened = create(attacker, "/own");
  }

  @AfterEach
  void checkTheVictim() throws Exception {
    byte[] content = Clients.read(owner, VICTIM);
    assertThat(content).hasSize(VICTIM_BYTES);
    Pattern.check(VICTIM, content);
    attacker.close();
    owner.close();
    server.close();
  }

  private static OpenedFile create(RawClient client, String path) throws Exception {
    Create.Builder create = Create.newBuilder().setPath(path).setGrantBytes(65536);
    return client.call(Request.newBuilder().setCreate(create)).getOpenedFile();
  }

  private long address(Extent extent) {
    return arenas.getArenas(extent.getArena()).getAddress() + extent.getOffset();
  }

  private Extent granted() {
    return opened.getGrants(0);
  }

  private Extent victim() throws Exception {
    return attacker
        .call(
            Request.newBuilder().setGetExtents(GetExtents.newBuilder().setPath(VICTIM).setLimit(1)))
        .getExtentMap()
        .getExtents(0);
  }

  /** Refused; then there is another connection with new keys. */
  private void expectRefused(long address, int rkey) throws Exception {
    assertThat(attacker.write(address, 64, rkey)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    arenas = attacker.connectData();
    RenewLeases.Builder lease =
        RenewLeases.newBuilder()
            .setFileId(opened.getFile().getId())
            .setLeaseEpoch(opened.getLeaseEpoch());
    Extent renewed =
        attacker.call(Request.newBuilder().setRenewLeases(lease)).getGrants().getExtents(0);
    opened = opened.toBuilder().clearGrants().addGrants(renewed).build();
  }

  @Test
  void shouldLetWriteWhatIsGranted() {
    assertThat(attacker.write(address(granted()), 64, granted().getRkey()))
        .isEqualTo(CompletionStatus.SUCCESS);
    assertThat(
            attacker.write(
                address(granted()) + granted().getCapacity() - 64, 64, granted().getRkey()))
        .isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void shouldRefuseWritesOutsideTheGrant() throws Exception {
    expectRefused(address(granted()) - 64, granted().getRkey());
    expectRefused(address(granted()) - 32, granted().getRkey());
    expectRefused(address(granted()) + granted().getCapacity(), granted().getRkey());
    expectRefused(address(granted()) + granted().getCapacity() - 32, granted().getRkey());
    expectRefused(address(victim()), granted().getRkey());
    expectRefused(address(victim()), granted().getChecksumsRkey());
  }

  @Test
  void shouldRefuseWritesByTheKeyOfAnArena() throws Exception {
    int rkey = arenas.getArenas(0).getRkey();
    expectRefused(address(victim()), rkey);
    expectRefused(address(granted()), arenas.getArenas(0).getRkey());
  }

  /** The pages and the log are in no region at all, and nothing beside the arenas is in theirs. */
  @Test
  void shouldRefuseWritesToMetadata() throws Exception {
    expectRefused(arenas.getArenas(0).getAddress() - 4096, arenas.getArenas(0).getRkey());
    long end = arenas.getArenas(0).getAddress() + arenas.getArenas(0).getLength();
    expectRefused(end, arenas.getArenas(0).getRkey());
    expectRefused(end, granted().getRkey());
  }

  /** The slots of calls, of another client and its own, belong to other connections. */
  @Test
  void shouldRefuseWritesToMessageSlots() throws Exception {
    ConnectionInfo own = attacker.messageSlots();
    expectRefused(own.address(), own.rkey());
    try (RawClient other = new RawClient(server.uri())) {
      ConnectionInfo theirs = other.messageSlots();
      expectRefused(theirs.address(), theirs.rkey());
    }
  }

  /** A call that is sent again gets its first answer; what that gave may be another's by now. */
  @Test
  void shouldGiveNoKeysAgainForAGrantThatIsOver() throws Exception {
    GrantExtents.Builder grant =
        GrantExtents.newBuilder()
            .setFileId(opened.getFile().getId())
            .setLeaseEpoch(opened.getLeaseEpoch())
            .setBytes(1 << 20);
    Request.Builder request = Request.newBuilder().setGrantExtents(grant);
    Extent first = attacker.call(request).getGrants().getExtents(0);
    assertThat(first.getRkey()).isNotZero();
    owner.delete("/own", false);
    Poll.until(
        "the grant has ended",
        Duration.ofSeconds(30),
        () ->
            attacker.write(address(first), 64, first.getRkey())
                == CompletionStatus.REMOTE_ACCESS_ERROR);
    attacker.connectData();
    Extent again = attacker.callAgain(request).getGrants().getExtents(0);
    assertThat(again.getOffset()).isEqualTo(first.getOffset());
    assertThat(again.getRkey()).isZero();
    assertThat(again.getChecksumsRkey()).isZero();
  }

  @Test
  void shouldRefuseGuessedKeys() throws Exception {
    Random random = new Random(7);
    for (int i = 1; i <= 8; i++) {
      int rkey = granted().getRkey();
      expectRefused(address(victim()), i % 2 == 0 ? random.nextInt() : rkey + i);
    }
  }

  @Test
  void shouldRefuseTheKeysOfAnotherClient() throws Exception {
    try (RawClient other = new RawClient(server.uri())) {
      Arenas shown = other.connectData();
      Extent theirs = create(other, "/theirs").getGrants(0);
      long there = shown.getArenas(0).getAddress() + theirs.getOffset();
      assertThat(other.write(there, 64, theirs.getRkey())).isEqualTo(CompletionStatus.SUCCESS);
      expectRefused(there, theirs.getRkey());
      expectRefused(there, shown.getArenas(0).getRkey());
      assertThat(other.write(there, 64, theirs.getRkey())).isEqualTo(CompletionStatus.SUCCESS);
    }
  }

  @Test
  void shouldRefuseWritesOnceTheFileIsClosed() throws Exception {
    Extent before = granted();
    CommitExtents.Builder close =
        CommitExtents.newBuilder()
            .setFileId(opened.getFile().getId())
            .setLeaseEpoch(opened.getLeaseEpoch())
            .setClose(true)
            .setAllWritesCompleted(true);
    attacker.call(Request.newBuilder().setCommitExtents(close));
    Poll.until(
        "the grant has ended",
        Duration.ofSeconds(30),
        () ->
            attacker.write(address(before), 64, before.getRkey())
                == CompletionStatus.REMOTE_ACCESS_ERROR);
  }

  @Test
  void shouldRefuseWritesOnceTheLeaseIsRecovered() throws Exception {
    Extent before = granted();
    owner.delete("/own", false);
    Poll.until(
        "the grant has ended",
        Duration.ofSeconds(30),
        () ->
            attacker.write(address(before), 64, before.getRkey())
                == CompletionStatus.REMOTE_ACCESS_ERROR);
  }
}
