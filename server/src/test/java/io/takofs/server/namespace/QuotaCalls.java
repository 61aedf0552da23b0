package io.takofs.server.namespace;

import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CountQuotas;
import io.takofs.proto.GetQuota;
import io.takofs.proto.LogEntry;
import io.takofs.proto.QuotaStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;

/** Calls and expectations that tests of quotas share. */
final class QuotaCalls {
  private final Harness server;
  private final Harness.Client root;

  QuotaCalls(Harness server, Harness.Client root) {
    this.server = server;
    this.root = root;
  }

  static Reply set(Harness.Client client, String path, long names, long space) {
    return client.call(
        Request.newBuilder()
            .setSetQuota(SetQuota.newBuilder().setPath(path).setNames(names).setSpace(space)));
  }

  QuotaStatus get(String path) {
    return assertOk(
            root.query(Request.newBuilder().setGetQuota(GetQuota.newBuilder().setPath(path))))
        .getQuota();
  }

  void assertUsed(String path, long names, long space) {
    QuotaStatus quota = get(path);
    assertThat(quota.hasNamesUsed()).isTrue();
    assertThat(quota.getNamesUsed()).as("names").isEqualTo(names);
    assertThat(quota.getSpaceUsed()).as("space").isEqualTo(space);
  }

  static Reply assertExceeded(Reply reply) {
    return assertStatus(reply, Status.QUOTA_EXCEEDED);
  }

  Reply count() {
    return server.apply(LogEntry.newBuilder().setCountQuotas(CountQuotas.getDefaultInstance()));
  }
}
