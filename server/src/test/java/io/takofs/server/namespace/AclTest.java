package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.attributes;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclStatus;
import io.takofs.proto.AclType;
import io.takofs.proto.CheckAccess;
import io.takofs.proto.Create;
import io.takofs.proto.GetAcl;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAcl;
import io.takofs.proto.SetAcl.Change;
import io.takofs.proto.Status;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.namespace.state.Keys;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ACLs as HDFS has them. Entries are written as in its command line. */
class AclTest {
  private final Harness server = new Harness();
  private final Harness.Client root = server.superuser();
  private final Harness.Client ann = server.client("ann", "staff", "eng");
  private final Harness.Client bob = server.client("bob", "staff");
  private final Harness.Client eve = server.client("eve", "other");

  @BeforeEach
  void makeHome() {
    server.makeHome(0755);
    ann.file("/home/f", 1);
    assertOk(ann.set(attributes("/home/f").setPermission(0640)));
  }

  // ---- text

  private static List<AclEntry> entries(String text) {
    List<AclEntry> entries = new ArrayList<>();
    for (String word : text.isEmpty() ? new String[0] : text.split(",")) {
      boolean isDefault = word.startsWith("default:");
      String[] parts = (isDefault ? word.substring(8) : word).split(":", -1);
      entries.add(
          AclEntry.newBuilder()
              .setScope(isDefault ? AclScope.DEFAULT : AclScope.ACCESS)
              .setType(AclType.valueOf(parts[0].toUpperCase(java.util.Locale.ROOT)))
              .setName(parts[1])
              .setPermission(parts.length < 3 ? 0 : bits(parts[2]))
              .build());
    }
    return entries;
  }

  private static int bits(String text) {
    return (text.charAt(0) == 'r' ? 4 : 0)
        | (text.charAt(1) == 'w' ? 2 : 0)
        | (text.charAt(2) == 'x' ? 1 : 0);
  }

  private static String text(AclEntry entry) {
    int bits = entry.getPermission();
    return (entry.getScope() == AclScope.DEFAULT ? "default:" : "")
        + entry.getType().name().toLowerCase(java.util.Locale.ROOT)
        + ":"
        + entry.getName()
        + ":"
        + ((bits & 4) != 0 ? "r" : "-")
        + ((bits & 2) != 0 ? "w" : "-")
        + ((bits & 1) != 0 ? "x" : "-");
  }

  private static Reply change(Harness.Client client, String path, Change change, String entries) {
    return client.call(
        Request.newBuilder()
            .setSetAcl(
                SetAcl.newBuilder()
                    .setPath(path)
                    .setChange(change)
                    .addAllEntries(entries(entries))));
  }

  private static Reply modify(Harness.Client client, String path, String entries) {
    return change(client, path, Change.MODIFY, entries);
  }

  private AclStatus status(String path) {
    return assertOk(root.query(Request.newBuilder().setGetAcl(GetAcl.newBuilder().setPath(path))))
        .getAcl();
  }

  /** The permission and what is beyond it. */
  private void assertAcl(String path, int permission, String... entries) {
    AclStatus acl = status(path);
    assertThat(acl.getEntriesList().stream().map(AclTest::text)).containsExactly(entries);
    assertThat(Integer.toOctalString(acl.getPermission()))
        .isEqualTo(Integer.toOctalString(permission));
    assertThat(root.info(path).getHasAcl()).isEqualTo(entries.length > 0);
  }

  private static Status access(Harness.Client client, String path, int access) {
    return client
        .query(
            Request.newBuilder()
                .setCheckAccess(CheckAccess.newBuilder().setPath(path).setAccess(access)))
        .getStatus();
  }

  private static void assertMayExactly(Harness.Client client, String path, int granted) {
    for (int access = 0; access < 8; access++) {
      assertThat(access(client, path, access))
          .as("access %d", access)
          .isEqualTo((granted & access) == access ? Status.OK : Status.PERMISSION_DENIED);
    }
  }

  private Reply mkdirs(Harness.Client client, String path, int masked, int unmasked) {
    return client.call(
        Request.newBuilder()
            .setMkdirs(
                Mkdirs.newBuilder()
                    .setPath(path)
                    .setPermission(masked)
                    .setUnmaskedPermission(unmasked)
                    .setCreateParents(true)));
  }

  private Reply create(Harness.Client client, String path, int masked, int unmasked) {
    return client.create(
        Create.newBuilder()
            .setPath(path)
            .setPermission(masked)
            .setUnmaskedPermission(unmasked)
            .setCreateParents(true));
  }

  // ---- changes

  @Test
  void shouldWorkOutTheMaskUnlessItIsGiven() {
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    assertAcl("/home/f", 0670, "user:bob:rwx", "group::r--");
    assertOk(modify(ann, "/home/f", "group:other:--x,mask::r--"));
    assertAcl("/home/f", 0640, "user:bob:rwx", "group::r--", "group:other:--x");
    // Changed without a word of the mask: worked out anew, from the group's own entry too.
    assertOk(modify(ann, "/home/f", "user:bob:-w-"));
    assertAcl("/home/f", 0670, "user:bob:-w-", "group::r--", "group:other:--x");
    assertOk(change(ann, "/home/f", Change.REMOVE_ENTRIES, "group:other"));
    assertAcl("/home/f", 0660, "user:bob:-w-", "group::r--");
    assertOk(modify(ann, "/home/f", "user::rwx,other::--x"));
    assertAcl("/home/f", 0761, "user:bob:-w-", "group::r--");
  }

  @Test
  void shouldKeepTheMaskOfAScopeThatIsNotChanged() {
    assertOk(modify(ann, "/home", "user:bob:rwx,mask::r--"));
    assertOk(modify(ann, "/home", "default:user:eve:rwx"));
    assertAcl(
        "/home",
        0745,
        "user:bob:rwx",
        "group::r-x",
        "default:user::rwx",
        "default:user:eve:rwx",
        "default:group::r-x",
        "default:mask::rwx",
        "default:other::r-x");
    assertOk(change(ann, "/home", Change.REMOVE_DEFAULT, ""));
    assertAcl("/home", 0745, "user:bob:rwx", "group::r-x");
  }

  @Test
  void shouldGiveTheGroupBackItsPermissionWithoutTheMask() {
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    assertOk(change(ann, "/home/f", Change.REMOVE, ""));
    assertAcl("/home/f", 0640);
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    assertOk(change(ann, "/home/f", Change.REPLACE, ""));
    assertAcl("/home/f", 0640);
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    assertOk(change(ann, "/home/f", Change.REMOVE_ENTRIES, "user:bob,mask:"));
    assertAcl("/home/f", 0640);
    // Without a word of the mask it stays, worked out anew.
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    assertOk(change(ann, "/home/f", Change.REMOVE_ENTRIES, "user:bob"));
    assertAcl("/home/f", 0640, "group::r--");
  }

  @Test
  void shouldReplaceScopeByScope() {
    assertOk(modify(ann, "/home", "user:bob:rwx,default:user:bob:rwx"));
    assertOk(change(ann, "/home", Change.REPLACE, "user::rwx,user:eve:r-x,group::r-x,other::---"));
    assertAcl(
        "/home",
        0750,
        "user:eve:r-x",
        "group::r-x",
        "default:user::rwx",
        "default:user:bob:rwx",
        "default:group::r-x",
        "default:mask::rwx",
        "default:other::r-x");
    assertOk(change(ann, "/home", Change.REPLACE, "default:group::---"));
    assertAcl(
        "/home",
        0750,
        "user:eve:r-x",
        "group::r-x",
        "default:user::rwx",
        "default:group::---",
        "default:other::---");
  }

  @Test
  void shouldRefuseWhatIsNoAcl() {
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    Reply reply = assertInvalid("/home/f", Change.MODIFY, "default:user:bob:r--");
    assertThat(reply.getMessage()).startsWith("Invalid ACL: only directories");
    assertInvalid("/home/f", Change.MODIFY, "user:eve:r--,user:eve:rw-");
    assertInvalid("/home/f", Change.MODIFY, "mask:eve:r--");
    assertInvalid("/home/f", Change.MODIFY, "user:" + "x".repeat(256) + ":r--");
    assertInvalid("/home/f", Change.REPLACE, "user:bob:rw-");
    assertInvalid("/home/f", Change.REMOVE_ENTRIES, "user:");
    assertInvalid("/home/f", Change.REMOVE_ENTRIES, "user:,group:,other:,user:bob,mask:");
    assertInvalid("/home/f", Change.REMOVE_ENTRIES, "mask:");
    assertInvalid("/home/f", Change.NONE, "");
    assertAcl("/home/f", 0670, "user:bob:rwx", "group::r--");
    assertStatus(modify(ann, "/home/x", "user:bob:rwx"), Status.NOT_FOUND);
  }

  private Reply assertInvalid(String path, Change change, String entries) {
    return assertStatus(change(ann, path, change, entries), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldHave32EntriesOfAScopeWithLongNames() {
    List<String> users = new ArrayList<>();
    // With the owner, the group, the mask and other they are 32.
    for (int i = 0; i < 28; i++) {
      users.add("user:%s%02d:r--".formatted("n".repeat(253), i));
    }
    String most = String.join(",", users);
    assertOk(modify(ann, "/home", most));
    assertOk(modify(ann, "/home", most.replace("user:", "default:user:")));
    assertThat(status("/home").getEntriesCount()).isEqualTo(29 + 32);
    Reply reply = assertInvalid("/home", Change.MODIFY, "user:more:r--");
    assertThat(reply.getMessage()).contains("33 access entries", "maximum of 32");
    assertInvalid("/home", Change.MODIFY, "default:user:more:r--");
    Consistency.check(server);
    assertOk(change(ann, "/home", Change.REMOVE, ""));
    Consistency.check(server);
  }

  @Test
  void shouldBeTheOwnersAndTheSuperusersToChange() {
    assertOk(root.set(attributes("/home/f").setPermission(0666)));
    assertStatus(modify(bob, "/home/f", "user:bob:rwx"), Status.PERMISSION_DENIED);
    assertOk(modify(root, "/home/f", "user:bob:rwx"));
    assertStatus(change(bob, "/home/f", Change.REMOVE, ""), Status.PERMISSION_DENIED);
    assertOk(ann.set(attributes("/home").setPermission(0700)));
    Request.Builder get = Request.newBuilder().setGetAcl(GetAcl.newBuilder().setPath("/home/f"));
    assertStatus(bob.query(get), Status.PERMISSION_DENIED);
  }

  // ---- checks

  @Test
  void shouldAskTheFirstEntriesThatApply() {
    assertOk(modify(ann, "/home/f", "user::-w-,user:bob:r--,group::rwx,group:eng:--x,other::rwx"));
    assertMayExactly(ann, "/home/f", 2);
    assertMayExactly(bob, "/home/f", 4);
    assertMayExactly(eve, "/home/f", 7);
    assertMayExactly(server.client("pat", "staff"), "/home/f", 7);
    assertMayExactly(server.client("kim", "eng"), "/home/f", 1);
    assertMayExactly(root, "/home/f", 7);
  }

  @Test
  void shouldNotAddUpWhatSeveralGroupsMay() {
    assertOk(modify(ann, "/home/f", "group::r--,group:eng:-w-,other::rwx"));
    Harness.Client both = server.client("kim", "eng", "staff");
    assertThat(access(both, "/home/f", 4)).isEqualTo(Status.OK);
    assertThat(access(both, "/home/f", 2)).isEqualTo(Status.OK);
    assertThat(access(both, "/home/f", 6)).isEqualTo(Status.PERMISSION_DENIED);
    assertThat(access(both, "/home/f", 1)).isEqualTo(Status.PERMISSION_DENIED);
  }

  @Test
  void shouldLimitByTheMaskThatChmodSets() {
    assertOk(modify(ann, "/home/f", "user:bob:rwx,group::rw-,other::r--"));
    assertMayExactly(bob, "/home/f", 7);
    assertOk(ann.set(attributes("/home/f").setPermission(0654)));
    assertAcl("/home/f", 0654, "user:bob:rwx", "group::rw-");
    assertMayExactly(bob, "/home/f", 5);
    assertMayExactly(server.client("pat", "staff"), "/home/f", 4);
    assertMayExactly(eve, "/home/f", 4);
  }

  @Test
  void shouldLookAtTheAclsOfDirectoriesOnTheWay() {
    assertOk(ann.mkdirs("/home/d/e", 0777));
    ann.file("/home/d/e/f", 1);
    assertOk(ann.set(attributes("/home/d/e/f").setPermission(0666)));
    assertOk(modify(ann, "/home/d", "user:bob:rw-"));
    assertStatus(bob.stat("/home/d/e/f"), Status.PERMISSION_DENIED);
    assertOk(eve.stat("/home/d/e/f"));
    assertOk(modify(ann, "/home/d", "user:bob:--x,other::---"));
    assertOk(bob.stat("/home/d/e/f"));
    assertStatus(bob.list("/home/d", "", 0), Status.PERMISSION_DENIED);
    assertStatus(eve.stat("/home/d/e/f"), Status.PERMISSION_DENIED);
    // The directories that a sum visits.
    assertOk(modify(ann, "/home/d/e", "user:bob:---"));
    assertOk(modify(ann, "/home/d", "user:bob:r-x"));
    assertStatus(bob.summary("/home/d"), Status.PERMISSION_DENIED);
    assertOk(ann.summary("/home/d"));
  }

  @Test
  void shouldKeepTheStickyBitOverAnAcl() {
    assertOk(root.mkdirs("/tmp", 01777));
    assertOk(modify(root, "/tmp", "user:eve:rwx,other::---"));
    assertThat(root.info("/tmp").getPermission()).isEqualTo(01770);
    assertStatus(bob.create("/tmp/f"), Status.PERMISSION_DENIED);
    assertOk(eve.create("/tmp/f"));
    assertOk(modify(root, "/tmp", "user:bob:rwx"));
    assertStatus(bob.delete("/tmp/f", false), Status.PERMISSION_DENIED);
    assertOk(eve.delete("/tmp/f", false));
  }

  @Test
  void shouldSayInAListingWhoHasAnAcl() {
    ann.file("/home/g", 1);
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    ann.file("/home/e", 1);
    assertThat(Listed.of(ann.list("/home", "", 0)))
        .extracting(Listed::hasAcl)
        .containsExactly(false, true, false);
    assertThat(Listed.of(ann.list("/home", "e", 0)))
        .extracting(Listed::hasAcl)
        .containsExactly(true, false);
  }

  @Test
  void shouldBeReadOnlyWhereItIsNeeded() {
    ann.file("/home/g", 1);
    ann.file("/home/h", 1);
    assertOk(modify(ann, "/home/g", "user:eve:rwx"));
    assertOk(modify(ann, "/home/h", "user:eve:rwx"));
    for (String name : List.of("/home/g", "/home/h")) {
      // Without its record, whoever reads the ACL fails.
      long id = ann.info(name).getId();
      byte[] record = new ByteWriter(10).raw(Keys.of(Keys.ACL, id)).u8(0).toBytes();
      assertThat(server.store.shard(Ids.birthShard(id)).remove(record)).isTrue();
    }
    assertThat(ann.names("/home")).containsExactly("f", "g", "h");
    assertThat(ann.summary("/home").getContentSummary().getFileCount()).isEqualTo(3);
    assertStatus(ann.delete("/home", false), Status.NOT_EMPTY);
    assertOk(ann.delete("/home/g", false));
    assertOk(root.delete("/home", true));
    server.reclaimAll();
    Consistency.check(server);
  }

  // ---- inheritance

  @Test
  void shouldGiveNewEntriesTheDefaultAclInsteadOfTheUmask() {
    assertOk(modify(ann, "/home", "default:user:bob:rwx,default:group::r-x"));
    assertOk(create(ann, "/home/g", 0600, 0666));
    assertAcl("/home/g", 0664, "user:bob:rwx", "group::r-x");
    assertOk(mkdirs(ann, "/home/d", 0700, 0750));
    assertAcl(
        "/home/d",
        0750,
        "user:bob:rwx",
        "group::r-x",
        "default:user::rwx",
        "default:user:bob:rwx",
        "default:group::r-x",
        "default:mask::rwx",
        "default:other::r-x");
    assertMayExactly(bob, "/home/d", 5);
    assertOk(create(ann, "/home/d/e/f", 0600, 0666));
    assertThat(status("/home/d/e").getEntriesCount()).isEqualTo(7);
    assertMayExactly(bob, "/home/d/e/f", 6);
    Consistency.check(server);
  }

  @Test
  void shouldCutAMinimalDefaultAclByWhatIsAskedFor() {
    assertOk(modify(ann, "/home", "default:user::rwx,default:group::rwx,default:other::r-x"));
    assertOk(create(ann, "/home/g", 0600, 0646));
    assertAcl("/home/g", 0644);
    assertOk(mkdirs(ann, "/home/d/e", 0700, 0777));
    assertAcl("/home/d/e", 0775, "default:user::rwx", "default:group::rwx", "default:other::r-x");
  }

  @Test
  void shouldLetTheUmaskCountWithoutADefaultAcl() {
    assertOk(modify(ann, "/home", "user:bob:rwx"));
    assertOk(create(ann, "/home/g", 0600, 0666));
    assertAcl("/home/g", 0600);
    assertOk(mkdirs(ann, "/home/d/e", 0500, 0777));
    assertAcl("/home/d", 0700);
    assertAcl("/home/d/e", 0500);
  }

  // ---- lives

  @Test
  void shouldGoWithItsInodeAndMoveWithIt() {
    assertOk(modify(ann, "/home", "default:user:bob:rwx"));
    assertOk(mkdirs(ann, "/home/d/e", 0755, 0755));
    assertOk(ann.rename("/home/d", "/home/x", false));
    assertThat(status("/home/x/e").getEntriesCount()).isEqualTo(7);
    ann.file("/home/x/e/f", 1);
    Consistency.check(server);
    assertOk(ann.create(Create.newBuilder().setPath("/home/x/e/f").setOverwrite(true)));
    Consistency.check(server);
    assertOk(ann.delete("/home/x", true));
    Consistency.check(server);
    server.reclaimAll();
    Consistency.check(server);
  }

  @Test
  void shouldBeThereAfterARestart() {
    assertOk(modify(ann, "/home/f", "user:bob:rwx"));
    server.restart();
    assertAcl("/home/f", 0670, "user:bob:rwx", "group::r--");
    assertMayExactly(bob, "/home/f", 7);
  }
}
