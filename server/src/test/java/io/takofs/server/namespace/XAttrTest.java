package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.attributes;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Create;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GetXAttrs;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RemoveXAttr;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetXAttr;
import io.takofs.proto.Status;
import io.takofs.proto.XAttr;
import io.takofs.proto.XAttrNamespace;
import io.takofs.server.namespace.operation.XAttrOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class XAttrTest {
  private static final XAttrNamespace USER = XAttrNamespace.XATTR_USER;
  private static final XAttrNamespace TRUSTED = XAttrNamespace.XATTR_TRUSTED;
  private static final XAttrNamespace SECURITY = XAttrNamespace.XATTR_SECURITY;
  private static final String UNREADABLE = "hdfs.unreadable.by.superuser";

  private final Harness server = new Harness();
  private final Harness.Client root = server.superuser();
  private final Harness.Client ann = server.client("ann", "staff");
  private final Harness.Client bob = server.client("bob", "staff");

  @BeforeEach
  void makeHome() {
    server.makeHome(0755);
    ann.file("/home/f", 1);
  }

  private static XAttr xattr(XAttrNamespace namespace, String name, ByteString value) {
    return XAttr.newBuilder().setNamespace(namespace).setName(name).setValue(value).build();
  }

  private static XAttr user(String name) {
    return xattr(USER, name, ByteString.EMPTY);
  }

  private static Reply set(Harness.Client client, String path, XAttr xattr) {
    return set(client, path, xattr, true, true);
  }

  private static Reply set(
      Harness.Client client, String path, XAttr xattr, boolean create, boolean replace) {
    return client.call(
        Request.newBuilder()
            .setSetXattr(
                SetXAttr.newBuilder()
                    .setPath(path)
                    .setXattr(xattr)
                    .setCreate(create)
                    .setReplace(replace)));
  }

  private static Reply set(Harness.Client client, String path, String name, String value) {
    return set(client, path, xattr(USER, name, ByteString.copyFromUtf8(value)));
  }

  private static Reply remove(Harness.Client client, String path, XAttr xattr) {
    return client.call(
        Request.newBuilder()
            .setRemoveXattr(RemoveXAttr.newBuilder().setPath(path).setXattr(xattr)));
  }

  private static Reply get(Harness.Client client, GetXAttrs.Builder request) {
    return client.query(Request.newBuilder().setGetXattrs(request));
  }

  /** All, page by page. */
  private static List<XAttr> all(Harness.Client client, String path) {
    List<XAttr> found = new ArrayList<>();
    GetXAttrs.Builder request = GetXAttrs.newBuilder().setPath(path);
    while (true) {
      var page = assertOk(get(client, request)).getXattrs();
      found.addAll(page.getXattrsList());
      if (!page.getMore()) {
        return found;
      }
      request.setAfter(found.get(found.size() - 1).toBuilder().clearValue());
    }
  }

  private static List<String> names(Harness.Client client, String path) {
    var page =
        assertOk(get(client, GetXAttrs.newBuilder().setPath(path).setNamesOnly(true))).getXattrs();
    page.getXattrsList().forEach(xattr -> assertThat(xattr.getValue()).isEmpty());
    return page.getXattrsList().stream().map(XAttr::getName).toList();
  }

  private static ByteString random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  @Test
  void shouldKeepValuesOfAnyLength() {
    List<XAttr> all = new ArrayList<>();
    // Around the bytes of one record and of several; names of which one begins another.
    for (int length : new int[] {0, 1, 2047, 2048, 2049, 4096, 16000}) {
      all.add(xattr(USER, "n" + "x".repeat(all.size()), random(length)));
    }
    for (int i = all.size(); i > 0; i--) {
      assertOk(set(ann, "/home/f", all.get(i - 1)));
      Consistency.check(server);
    }
    assertThat(all(ann, "/home/f")).isEqualTo(all);
    XAttr shorter = all.get(6).toBuilder().setValue(random(7)).build();
    assertOk(set(ann, "/home/f", shorter));
    all.set(6, shorter);
    assertThat(all(ann, "/home/f")).isEqualTo(all);
    assertOk(remove(ann, "/home/f", all.remove(3)));
    assertThat(all(ann, "/home/f")).isEqualTo(all);
    server.restart();
    assertThat(all(ann, "/home/f")).isEqualTo(all);
    Consistency.check(server);
  }

  @Test
  void shouldAnswerPageByPageWhatDoesNotFitAReply() {
    List<XAttr> all = new ArrayList<>();
    for (int i = 0; i < XAttrOperation.COUNT_MAX; i++) {
      all.add(xattr(USER, "name%02d".formatted(i), random(16000 + i)));
      assertOk(set(ann, "/home/f", all.get(i)));
    }
    assertThat(all(ann, "/home/f")).isEqualTo(all);
    assertThat(names(ann, "/home/f")).hasSize(all.size());
    GetXAttrs.Builder wanted = GetXAttrs.newBuilder().setPath("/home/f");
    for (int i = all.size(); i > 0; i--) {
      wanted.addWanted(all.get(i - 1).toBuilder().clearValue());
    }
    var page = assertOk(get(ann, wanted)).getXattrs();
    assertThat(page.getMore()).isTrue();
    assertThat(page.getXattrs(0)).isEqualTo(all.get(all.size() - 1));
  }

  @Test
  void shouldHaveLimits() {
    int most = XAttrOperation.SIZE_MAX;
    assertOk(set(ann, "/home/f", xattr(USER, "a", random(most - 1))));
    assertStatus(set(ann, "/home/f", xattr(USER, "a", random(most))), Status.INVALID_ARGUMENT);
    assertOk(set(ann, "/home/f", user("n".repeat(255))));
    for (String name : List.of("", "a\0b", "n".repeat(256))) {
      assertStatus(set(ann, "/home/f", user(name)), Status.INVALID_ARGUMENT);
    }
    for (int i = 2; i < XAttrOperation.COUNT_MAX; i++) {
      assertOk(set(ann, "/home/f", user("name" + i)));
    }
    Reply reply = assertStatus(set(ann, "/home/f", user("more")), Status.INVALID_ARGUMENT);
    assertThat(reply.getMessage()).contains("limit of 32");
    assertOk(set(ann, "/home/f", "name2", "another value"));
    assertOk(remove(ann, "/home/f", user("name2")));
    assertOk(set(ann, "/home/f", user("more")));
  }

  @Test
  void shouldCreateOrReplaceAsIsSaid() {
    XAttr xattr = user("a");
    assertStatus(set(ann, "/home/f", xattr, false, true), Status.INVALID_ARGUMENT);
    assertOk(set(ann, "/home/f", xattr, true, false));
    assertStatus(set(ann, "/home/f", xattr, true, false), Status.INVALID_ARGUMENT);
    assertOk(set(ann, "/home/f", xattr, false, true));
    assertOk(remove(ann, "/home/f", xattr));
    assertStatus(remove(ann, "/home/f", xattr), Status.INVALID_ARGUMENT);
    GetXAttrs.Builder missing = GetXAttrs.newBuilder().setPath("/home/f").addWanted(xattr);
    assertStatus(get(ann, missing), Status.INVALID_ARGUMENT);
    assertStatus(set(ann, "/home/x", xattr), Status.NOT_FOUND);
  }

  @Test
  void shouldTakeTheRightsToReadAndWrite() {
    assertStatus(set(bob, "/home/f", "a", "1"), Status.PERMISSION_DENIED);
    assertOk(set(ann, "/home/f", "a", "1"));
    assertThat(all(bob, "/home/f")).hasSize(1);
    assertOk(ann.set(attributes("/home/f").setPermission(0600)));
    assertStatus(get(bob, GetXAttrs.newBuilder().setPath("/home/f")), Status.PERMISSION_DENIED);
    // Names are shown to who may come so far.
    assertThat(names(bob, "/home/f")).containsExactly("a");
    assertOk(ann.set(attributes("/home").setPermission(0700)));
    assertStatus(
        get(bob, GetXAttrs.newBuilder().setPath("/home/f").setNamesOnly(true)),
        Status.PERMISSION_DENIED);
  }

  @Test
  void shouldBeTheOwnersInAStickyDirectory() {
    assertOk(ann.set(attributes("/home").setPermission(01777)));
    assertStatus(set(bob, "/home", "a", "1"), Status.PERMISSION_DENIED);
    assertOk(set(ann, "/home", "a", "1"));
    assertStatus(remove(bob, "/home", user("a")), Status.PERMISSION_DENIED);
    assertOk(ann.set(attributes("/home").setPermission(0777)));
    assertOk(remove(bob, "/home", user("a")));
  }

  @Test
  void shouldShowTrustedOnesToSuperusersOnly() {
    XAttr trusted = xattr(TRUSTED, "a", ByteString.copyFromUtf8("1"));
    assertStatus(set(ann, "/home/f", trusted), Status.PERMISSION_DENIED);
    assertOk(set(root, "/home/f", trusted));
    assertOk(set(ann, "/home/f", "a", "2"));
    assertThat(all(root, "/home/f")).hasSize(2);
    assertThat(all(ann, "/home/f")).hasSize(1);
    assertThat(names(ann, "/home/f")).hasSize(1);
    assertStatus(
        get(ann, GetXAttrs.newBuilder().setPath("/home/f").addWanted(trusted)),
        Status.PERMISSION_DENIED);
    assertStatus(remove(ann, "/home/f", trusted), Status.PERMISSION_DENIED);
    assertOk(remove(root, "/home/f", trusted));
    assertStatus(set(root, "/home/f", xattr(SECURITY, "a", random(1))), Status.PERMISSION_DENIED);
    assertStatus(
        set(root, "/home/f", user("a").toBuilder().setNamespaceValue(9).build()),
        Status.PERMISSION_DENIED);
  }

  @Test
  void shouldKeepDataFromTheSuperuserOnceAndForAll() {
    XAttr unreadable = xattr(SECURITY, UNREADABLE, ByteString.EMPTY);
    GetExtents.Builder open = GetExtents.newBuilder().setPath("/home/f");
    assertOk(root.extents(open));
    assertStatus(
        set(ann, "/home/f", xattr(SECURITY, UNREADABLE, random(1))), Status.PERMISSION_DENIED);
    assertOk(set(ann, "/home/f", unreadable));
    assertStatus(root.extents(open), Status.PERMISSION_DENIED);
    assertOk(ann.extents(open));
    assertStatus(remove(root, "/home/f", unreadable), Status.PERMISSION_DENIED);
    assertThat(names(bob, "/home/f")).containsExactly(UNREADABLE);
  }

  @Test
  void shouldNotLetTheSuperuserReadByConcatOrAppend() {
    XAttr unreadable = xattr(SECURITY, UNREADABLE, ByteString.EMPTY);
    ann.file("/home/secret", 10);
    assertOk(set(ann, "/home/secret", unreadable));
    ann.closeInline(ann.opened("/home/small"), "abc");
    assertOk(set(ann, "/home/small", unreadable));
    for (String name : List.of("secret", "small")) {
      String path = "/home/" + name;
      assertStatus(root.append(path), Status.PERMISSION_DENIED);
      OpenedFile target = assertOk(root.append("/home/f")).getOpenedFile();
      FileInfo seen = root.stat(path).getFile();
      Concat.Builder concat =
          Concat.newBuilder()
              .setTarget("/home/f")
              .setCommit(Harness.commit(target).setClose(true).setAllWritesCompleted(true))
              .addSources(
                  ConcatSource.newBuilder()
                      .setName(name)
                      .setFileId(seen.getId())
                      .setVersion(seen.getVersion()));
      Reply refused =
          assertStatus(root.call(Request.newBuilder().setConcat(concat)), Status.PERMISSION_DENIED);
      assertThat(refused.getMessage()).contains("no superuser may read " + name);
      root.committed(Harness.commit(target).setClose(true).setAbandon(true));
      assertOk(root.stat(path));
      OpenedFile mine = assertOk(ann.append(path)).getOpenedFile();
      ann.committed(Harness.commit(mine).setClose(true).setAbandon(true));
    }
  }

  @Test
  void shouldKeepDataFromTheSuperuserOnlyWhenAWriterOfTheFileSaysSo() {
    XAttr unreadable = xattr(SECURITY, UNREADABLE, ByteString.EMPTY);
    assertStatus(set(bob, "/home/f", unreadable), Status.PERMISSION_DENIED);
    assertOk(root.extents(GetExtents.newBuilder().setPath("/home/f")));
    assertOk(ann.set(attributes("/home/f").setPermission(0664)));
    assertOk(set(bob, "/home/f", unreadable));
    assertOk(ann.mkdirs("/home/d"));
    for (Harness.Client client : List.of(ann, root)) {
      Reply refused = assertStatus(set(client, "/home/d", unreadable), Status.INVALID_ARGUMENT);
      assertThat(refused.getMessage()).contains("on a file");
    }
    assertThat(names(root, "/home/d")).isEmpty();
  }

  @Test
  void shouldGoWithTheInode() {
    assertOk(ann.mkdirs("/home/d/e"));
    ann.file("/home/d/e/f", 1_000_000);
    for (String path : List.of("/home/f", "/home/d", "/home/d/e", "/home/d/e/f")) {
      for (int i = 0; i < XAttrOperation.COUNT_MAX; i++) {
        assertOk(set(ann, path, xattr(USER, "name" + i, random(16000))));
      }
    }
    assertOk(ann.create(Create.newBuilder().setPath("/home/f").setOverwrite(true)));
    assertThat(names(ann, "/home/f")).isEmpty();
    assertOk(ann.delete("/home/d/e/f", false));
    assertOk(ann.delete("/home/d/e", false));
    assertOk(ann.mkdirs("/home/d/x"));
    assertOk(ann.delete("/home/d", true));
    Consistency.check(server);
    while (server.machine.reclaimPending()) {
      server.reclaim(10);
      Consistency.check(server);
    }
  }
}
