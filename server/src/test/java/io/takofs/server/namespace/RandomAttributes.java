package io.takofs.server.namespace;

import com.google.protobuf.ByteString;
import io.takofs.proto.AclScope;
import io.takofs.proto.Request;
import io.takofs.proto.SetAcl;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Quota;
import java.util.Random;

/** Random changes of extended attributes, ACLs and quotas. */
final class RandomAttributes {
  private final Random random;
  private final ReferenceModel model;

  RandomAttributes(Random random, ReferenceModel model) {
    this.random = random;
    this.model = model;
  }

  /** Other tests check their effect: here they come and go with what they belong to. */
  void change(Harness.Client client, String path) {
    ReferenceModel.Node node = model.get(path);
    Request.Builder request = Request.newBuilder();
    if (random.nextBoolean()) {
      request
          .getSetXattrBuilder()
          .setPath(path)
          .setCreate(true)
          .setReplace(true)
          .getXattrBuilder()
          .setName(name())
          .setValue(ByteString.copyFrom(new byte[random.nextInt(5000)]));
    } else {
      boolean inherited = node != null && node.directory && random.nextBoolean();
      request
          .getSetAclBuilder()
          .setPath(path)
          .setChange(random.nextInt(3) == 0 ? SetAcl.Change.REMOVE : SetAcl.Change.MODIFY)
          .addEntriesBuilder()
          .setScope(inherited ? AclScope.DEFAULT : AclScope.ACCESS)
          .setName(name())
          .setPermission(random.nextInt(8));
    }
    RandomWorkload.expect(client.call(request), model.stat(path), "attributes of " + path);
  }

  /** Large enough, or none: that everything is counted is what matters. */
  void changeQuota(Harness.Client client, String path) {
    ReferenceModel.Node node = model.get(path);
    boolean file = node != null && !node.directory;
    boolean none = random.nextInt(3) == 0;
    Request.Builder request = Request.newBuilder();
    request
        .getSetQuotaBuilder()
        .setPath(path)
        .setNames(none ? Quota.NONE : 1_000_000)
        .setSpace(none || random.nextBoolean() ? Quota.NONE : 1L << 40);
    Status expected = file ? Status.NOT_A_DIRECTORY : model.stat(path);
    RandomWorkload.expect(client.call(request), expected, "quota of " + path);
  }

  private String name() {
    return RandomWorkload.NAMES[random.nextInt(RandomWorkload.NAMES.length)];
  }
}
