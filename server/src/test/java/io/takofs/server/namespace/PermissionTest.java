package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.attributes;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Create;
import io.takofs.proto.GetExtents;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PermissionTest {
  private final Harness server = new Harness();
  private final Harness.Client root = server.superuser();
  private final Harness.Client ann = server.client("ann", "staff", "eng");
  private final Harness.Client bob = server.client("bob", "staff");
  private final Harness.Client eve = server.client("eve", "other");

  @BeforeEach
  void makeHome() {
    server.makeHome(0750);
  }

  @Test
  void shouldGiveNewEntriesTheirMakerAndTheParentsGroup() {
    assertOk(ann.mkdirs("/home/d"));
    ann.file("/home/d/f", 3);
    assertThat(ann.info("/home/d").getOwner()).isEqualTo("ann");
    assertThat(ann.info("/home/d/f").getOwner()).isEqualTo("ann");
    assertThat(ann.info("/home/d/f").getGroup()).isEqualTo("staff");
  }

  @Test
  void shouldAskOwnerThenGroupThenOther() {
    ann.file("/home/f", 3);
    assertOk(bob.stat("/home/f"));
    assertOk(bob.list("/home", "", 0));
    assertStatus(eve.stat("/home/f"), Status.PERMISSION_DENIED);
    assertStatus(eve.list("/home", "", 0), Status.PERMISSION_DENIED);
    assertStatus(bob.mkdirs("/home/x"), Status.PERMISSION_DENIED);
    assertStatus(bob.create("/home/x"), Status.PERMISSION_DENIED);
    // The owner is not asked what the group may.
    assertOk(ann.set(attributes("/home/f").setPermission(0077)));
    assertStatus(ann.extents(GetExtents.newBuilder().setPath("/home/f")), Status.PERMISSION_DENIED);
    assertOk(bob.extents(GetExtents.newBuilder().setPath("/home/f")));
    assertOk(root.extents(GetExtents.newBuilder().setPath("/home/f")));
  }

  @Test
  void shouldNeedExecuteOnTheWayAndNothingOnTheTargetToLook() {
    assertOk(ann.mkdirs("/home/d/e", 0777));
    assertOk(ann.set(attributes("/home/d").setPermission(0766)));
    Reply denied = assertStatus(bob.stat("/home/d/e"), Status.PERMISSION_DENIED);
    assertThat(denied.getMessage()).contains("bob").contains("/home/d").contains("0766");
    assertOk(bob.stat("/home/d"));
    assertOk(ann.set(attributes("/home/d").setPermission(0700)));
    assertStatus(bob.stat("/home/d/e"), Status.PERMISSION_DENIED);
    // An invisible file cannot be distinguished from an absent one.
    assertStatus(bob.stat("/home/d/none"), Status.PERMISSION_DENIED);
    assertOk(bob.stat("/home/d"));
  }

  @Test
  void shouldNeedWriteToWriteAFile() {
    ann.file("/home/f", 3);
    assertStatus(bob.append("/home/f"), Status.PERMISSION_DENIED);
    assertStatus(bob.truncate(Truncate.newBuilder().setPath("/home/f")), Status.PERMISSION_DENIED);
    assertStatus(bob.recoverLease("/home/f"), Status.PERMISSION_DENIED);
    assertStatus(
        bob.create(Create.newBuilder().setPath("/home/f").setOverwrite(true)),
        Status.PERMISSION_DENIED);
    assertStatus(bob.set(attributes("/home/f").setReplication(2)), Status.PERMISSION_DENIED);
    assertStatus(bob.set(attributes("/home/f").setModificationTimeMs(1)), Status.PERMISSION_DENIED);
    assertOk(ann.set(attributes("/home/f").setPermission(0660)));
    assertOk(bob.set(attributes("/home/f").setModificationTimeMs(1)));
    assertOk(bob.append("/home/f"));
  }

  @Test
  void shouldNeedWriteOnBothParentsToRename() {
    ann.mkdirs("/home/mine", 0700);
    ann.mkdirs("/home/ours", 0770);
    ann.file("/home/mine/f", 1);
    ann.file("/home/ours/f", 1);
    assertStatus(bob.rename("/home/ours/f", "/home/f", false), Status.PERMISSION_DENIED);
    assertStatus(bob.rename("/home/ours/f", "/home/mine/g", false), Status.PERMISSION_DENIED);
    assertOk(bob.rename("/home/ours/f", "/home/ours/g", false));
    assertStatus(bob.delete("/home/mine/f", false), Status.PERMISSION_DENIED);
    assertOk(bob.delete("/home/ours/g", false));
  }

  @Test
  void shouldKeepWhatIsInAStickyDirectoryForItsOwners() {
    assertOk(root.mkdirs("/tmp", 01777));
    ann.file("/tmp/f", 1);
    bob.file("/tmp/g", 1);
    assertStatus(eve.delete("/tmp/f", false), Status.PERMISSION_DENIED);
    assertStatus(eve.rename("/tmp/f", "/tmp/x", false), Status.PERMISSION_DENIED);
    assertStatus(ann.rename("/tmp/f", "/tmp/g", true), Status.PERMISSION_DENIED);
    assertOk(ann.rename("/tmp/f", "/tmp/h", false));
    assertOk(ann.delete("/tmp/h", false));
    assertOk(root.delete("/tmp/g", false));
    // The owner of the directory may too.
    assertOk(root.set(attributes("/tmp").setOwner("eve")));
    ann.file("/tmp/f", 1);
    assertOk(eve.delete("/tmp/f", false));
  }

  @Test
  void shouldNotDeleteAForeignDirectoryThatIsNotEmpty() {
    assertOk(root.mkdirs("/shared", 0777));
    assertOk(ann.mkdirs("/shared/d/e", 0755));
    assertStatus(bob.delete("/shared/d", true), Status.PERMISSION_DENIED);
    assertOk(ann.delete("/shared/d", true));
    assertOk(ann.mkdirs("/shared/d"));
    assertOk(bob.delete("/shared/d", true));
  }

  @Test
  void shouldLetOnlyTheOwnerChangePermissionAndGroupAndOnlyTheSuperuserTheOwner() {
    ann.file("/home/f", 1);
    assertStatus(bob.set(attributes("/home/f").setPermission(0777)), Status.PERMISSION_DENIED);
    assertStatus(bob.set(attributes("/home/f").setGroup("staff")), Status.PERMISSION_DENIED);
    assertStatus(ann.set(attributes("/home/f").setOwner("bob")), Status.PERMISSION_DENIED);
    assertStatus(ann.set(attributes("/home/f").setGroup("other")), Status.PERMISSION_DENIED);
    assertOk(ann.set(attributes("/home/f").setOwner("ann")));
    assertOk(ann.set(attributes("/home/f").setGroup("eng").setPermission(0640)));
    assertThat(ann.info("/home/f").getGroup()).isEqualTo("eng");
    assertOk(root.set(attributes("/home/f").setOwner("bob").setGroup("whatever")));
    assertThat(ann.info("/home/f").getOwner()).isEqualTo("bob");
  }

  @Test
  void shouldSetAllAttributesOrNone() {
    ann.file("/home/f", 1);
    assertStatus(
        ann.set(attributes("/home/f").setPermission(0600).setOwner("bob")),
        Status.PERMISSION_DENIED);
    assertThat(ann.info("/home/f").getPermission()).isEqualTo(0644);
    assertOk(
        ann.set(
            attributes("/home/f")
                .setPermission(0600)
                .setModificationTimeMs(-5)
                .setAccessTimeMs(77)
                .setReplication(9)));
    var info = ann.info("/home/f");
    assertThat(info.getPermission()).isEqualTo(0600);
    assertThat(info.getModificationTimeMs()).isEqualTo(-5);
    assertThat(info.getAccessTimeMs()).isEqualTo(77);
    assertThat(info.getReplication()).isEqualTo(9);
    assertOk(ann.set(attributes("/home").setModificationTimeMs(123)));
    assertThat(ann.info("/home").getModificationTimeMs()).isEqualTo(123);
  }

  @Test
  void shouldRefuseImpossibleAttributes() {
    ann.file("/home/f", 1);
    assertStatus(ann.set(attributes("/home/f").setPermission(010000)), Status.INVALID_ARGUMENT);
    assertStatus(ann.set(attributes("/home/f").setReplication(0)), Status.INVALID_ARGUMENT);
    assertStatus(ann.set(attributes("/home").setReplication(1)), Status.IS_A_DIRECTORY);
    assertStatus(root.set(attributes("/home/f").setOwner("")), Status.INVALID_ARGUMENT);
    assertStatus(
        root.set(attributes("/home/f").setGroup("g".repeat(256))), Status.INVALID_ARGUMENT);
    assertStatus(ann.set(attributes("/home/x").setPermission(0)), Status.NOT_FOUND);
  }

  @Test
  void shouldSumUpOnlyWhatCanBeListed() {
    ann.mkdirs("/home/mine/x", 0700);
    ann.set(attributes("/home/mine").setPermission(0700));
    Reply denied = assertStatus(bob.summary("/home"), Status.PERMISSION_DENIED);
    assertThat(denied.getMessage()).contains("/home/mine");
    assertOk(ann.summary("/home"));
  }
}
