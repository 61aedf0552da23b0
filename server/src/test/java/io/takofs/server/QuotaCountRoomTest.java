package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Delete;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.Request;
import io.takofs.proto.SetQuota;
import io.takofs.proto.Status;
import io.takofs.server.store.PagedStores;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A count for a quota while others fill the store. */
@Timeout(60)
class QuotaCountRoomTest {
  private HousekeepingRig rig;
  private long client;

  @BeforeEach
  void openSession() throws TakoException {
    rig = new HousekeepingRig(new PagedStores(1024).open(), List.of(1L << 30));
    client = rig.openSession();
  }

  private static Request mkdirs(String path) {
    return Request.newBuilder()
        .setMkdirs(Mkdirs.newBuilder().setPath(path).setPermission(0755).setCreateParents(true))
        .build();
  }

  private boolean isDone(Request request) throws TakoException {
    return rig.machine.refusal(request) == null
        && rig.execute(client, request).getStatus() == Status.OK;
  }

  @Test
  void shouldEndWhenOthersHaveFilledTheStore() throws Exception {
    String deep = "/q";
    for (int part = 0; part < 10; part++) {
      deep += "/x".repeat(30);
      assertThat(isDone(mkdirs(deep))).isTrue();
    }
    SetQuota.Builder quota = SetQuota.newBuilder().setPath("/q").setNames(100_000).setSpace(-1);
    rig.execute(client, Request.newBuilder().setSetQuota(quota).build());
    assertThat(rig.machine.countPending()).isTrue();
    int made = 0;
    while (isDone(mkdirs("/p" + made % 200 + "/" + made + "n".repeat(50)))) {
      made++;
    }
    long before = rig.log.lastIndex();
    for (int ticks = 0; ticks < 1000 && rig.machine.countPending(); ticks++) {
      rig.tick();
    }
    assertThat(rig.machine.countPending()).isFalse();
    // A step that is refused is not tried again and again: that would fill the log.
    assertThat(rig.log.lastIndex() - before).isLessThan(200);
    Delete.Builder delete = Delete.newBuilder().setPath(deep);
    assertThat(isDone(Request.newBuilder().setDelete(delete).build())).isTrue();
  }
}
