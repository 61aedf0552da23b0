package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.NativeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the files of a dead process, with and without a peer that is still attached to them. */
@Timeout(60)
class ShmDirectoryTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 500;
  private static final int REGIONS = 50;

  @TempDir Path parent;

  private Path left;
  private Path domain;

  @BeforeEach
  void leaveADomainBehind() throws Exception {
    assertThat(NativeLibrary.isAvailable()).isTrue();
    left = Files.createDirectory(parent.resolve("tako-shm-00000000000000aa"));
    Files.createFile(left.resolve("lock"));
    domain = Files.createDirectory(left.resolve("domain-1"));
    Attachment.prepare(domain);
    for (int i = 0; i < REGIONS; i++) {
      Files.createFile(domain.resolve("region-" + i));
    }
  }

  @Test
  void shouldShareNothingInADirectoryOfAnotherUser() throws Exception {
    Path theirs = Files.createDirectory(parent.resolve("theirs"));
    giveAway(theirs);
    assertThatThrownBy(() -> ShmDirectory.create(theirs))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("belongs to another user");
    assertThat(theirs.toFile().list()).isEmpty();
  }

  @Test
  void shouldLeaveAloneWhatIsNotOfThisUser() throws Exception {
    giveAway(left);
    Path mine = Files.createDirectory(parent.resolve("mine"));
    Files.createFile(mine.resolve("lock"));
    Path link = Files.createSymbolicLink(parent.resolve("tako-shm-00000000000000bb"), mine);
    assertThat(ShmDirectory.removeStale(parent)).isFalse();
    assertThat(domain.resolve("region-1")).exists();
    assertThat(link).isSymbolicLink();
  }

  private static void giveAway(Path path) {
    try {
      Files.setAttribute(path, "unix:uid", 65534);
    } catch (IOException e) {
      Assumptions.abort("needs the right to give files away: " + e.getMessage());
    }
  }

  @Test
  void shouldSeeAFormerPeerWhoeverElseLooksAtTheSameTime() throws Exception {
    try (Attachment attachment = attach()) {
      assertThat(attachment).isNotNull();
      assertThat(scanTogether()).containsOnly(true);
      assertThat(domain.resolve("region-1")).exists();
    }
  }

  @Test
  void shouldRevokeTheInboxesOfADeadProcessThatAPeerIsAttachedTo() throws Exception {
    Path inbox = leaveAnInbox(left, "inbox-1", Inbox.size(2));
    Path other = leaveAnInbox(left, "inbox-2", Inbox.size(1));
    try (Attachment attachment = attach()) {
      assertThat(attachment).isNotNull();
      assertThat(ShmTransport.hasFormerPeers(parent)).isTrue();
      assertThat(List.of(revoked(inbox), revoked(other))).containsOnly(1);
      assertThat(ShmTransport.hasFormerPeers(parent)).isTrue();
      assertThat(revoked(inbox)).isEqualTo(1);
    }
  }

  /** Peers have them mapped after the directory is gone. */
  @Test
  void shouldRevokeTheInboxesThatItRemoves() throws Exception {
    Path inbox = leaveAnInbox(left, "inbox-1", Inbox.size(1));
    try (MappedMemory mapped = MappedMemory.map(inbox, 0, Inbox.size(1))) {
      ShmTransport.create(parent).close();
      assertThat(inbox).doesNotExist();
      ByteBuffer word = mapped.slice(Layout.SHM_INBOX_REVOKED_OFFSET, Integer.BYTES);
      assertThat(word.getInt(0)).isEqualTo(1);
    }
  }

  @Test
  void shouldRevokeNothingOfAProcessThatLives() throws Exception {
    Path inbox = leaveAnInbox(left, "inbox-1", Inbox.size(1));
    try (NativeFile lock = NativeFile.open(left.resolve("lock"), NativeCore.OPEN_WRITE)) {
      assertThat(lock.tryLock()).isTrue();
      assertThat(ShmTransport.hasFormerPeers(parent)).isFalse();
      assertThat(revoked(inbox)).isZero();
    }
  }

  @Test
  void shouldWriteToNothingButInboxes() throws Exception {
    Path unfinished = leaveAnInbox(left, "inbox-1", 0);
    Path doorbell = leaveAnInbox(left, "doorbell-1", Layout.SHM_DOORBELL_SIZE);
    Path elsewhere = leaveAnInbox(parent, "elsewhere", Inbox.size(1));
    Files.createSymbolicLink(left.resolve("inbox-2"), elsewhere);
    Files.createDirectory(left.resolve("inbox-3"));
    try (Attachment attachment = attach()) {
      assertThat(attachment).isNotNull();
      assertThat(ShmTransport.hasFormerPeers(parent)).isTrue();
      assertThat(Files.size(unfinished)).isZero();
      assertThat(List.of(revoked(doorbell), revoked(elsewhere))).containsOnly(0);
    }
  }

  /** It could be a process that lives, or one whose peers go on counting. */
  @Test
  void shouldPromiseNothingWhenItCannotTellWhetherAProcessLives() throws Exception {
    Path unlocked = Files.createDirectory(parent.resolve("tako-shm-00000000000000bb"));
    Path inbox = leaveAnInbox(unlocked, "inbox-1", Inbox.size(1));
    assertThatThrownBy(() -> ShmTransport.hasFormerPeers(parent))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(unlocked.toString());
    assertThatThrownBy(() -> ShmTransport.create(parent)).isInstanceOf(TakoException.class);
    assertThat(revoked(inbox)).isZero();
    assertThat(left).doesNotExist(); // the others are seen to
  }

  private static Path leaveAnInbox(Path directory, String name, long size) throws IOException {
    return Files.write(directory.resolve(name), new byte[(int) size]);
  }

  private static int revoked(Path inbox) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(inbox))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getInt(Layout.SHM_INBOX_REVOKED_OFFSET);
  }

  @Test
  void shouldKnowNoPeersWhereNoDirectoryIs() throws Exception {
    assertThat(ShmTransport.hasFormerPeers(parent.resolve("missing"))).isFalse();
  }

  @Test
  void shouldRemoveWhatNobodyIsAttachedToWhoeverElseDoesTheSame() throws Exception {
    scanTogether();
    assertThat(ShmTransport.hasFormerPeers(parent)).isFalse();
    try (Stream<Path> entries = Files.list(parent)) {
      assertThat(entries).isEmpty();
    }
  }

  /** Else a peer could map regions and nobody would know. */
  @Test
  void shouldShowNoRegionOfADomainThatPeersCannotAttachTo() throws Exception {
    UserPrincipal owner = Files.getOwner(domain);
    ExecutorService peer = Executors.newSingleThreadExecutor();
    try {
      for (int round = 0; round < ROUNDS / 10; round++) {
        CountDownLatch looking = new CountDownLatch(1);
        Future<Boolean> unattached =
            peer.submit(
                () -> {
                  boolean found = false;
                  for (looking.countDown(); Files.exists(left); ) {
                    found |= mapsUnattached(owner);
                  }
                  return found;
                });
        looking.await();
        // A peer that is just about to attach stands in the way of the removal.
        while (ShmTransport.hasFormerPeers(parent)) {
          Thread.onSpinWait();
        }
        assertThat(unattached.get()).isFalse();
        leaveADomainBehind();
      }
    } finally {
      peer.shutdownNow();
    }
  }

  private boolean mapsUnattached(UserPrincipal owner) throws IOException {
    try {
      Optional<Attachment> attachment = Attachment.to(domain, owner);
      attachment.ifPresent(Attachment::close);
      return attachment.isEmpty()
          && IntStream.range(0, REGIONS).anyMatch(i -> Files.exists(domain.resolve("region-" + i)));
    } catch (TakoException | NoSuchFileException e) {
      return false; // it is being removed
    }
  }

  private Attachment attach() throws Exception {
    return Attachment.to(domain, Files.getOwner(domain)).orElseThrow();
  }

  private List<Boolean> scanTogether() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      Callable<Boolean> scans =
          () -> {
            boolean always = true;
            for (int round = 0; round < ROUNDS; round++) {
              always &= ShmTransport.hasFormerPeers(parent);
            }
            return always;
          };
      List<Boolean> results = new ArrayList<>();
      for (Future<Boolean> future : threads.invokeAll(Collections.nCopies(THREADS, scans))) {
        results.add(future.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
