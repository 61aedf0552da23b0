package io.takofs.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlabs;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalDataServerTest {
  private static final ServerEntry SELF = ServerEntry.newBuilder().setId(3).setHost("a").build();
  private static final Request LEASE =
      Request.newBuilder().setLeaseSlabs(LeaseSlabs.newBuilder().setCount(2)).build();
  private static final Reply LEASED =
      Reply.newBuilder().setLeasedSlabs(LeasedSlabs.getDefaultInstance()).build();

  private final List<Request> asked = new ArrayList<>();
  private final List<Reply> answers = new ArrayList<>();
  private final DataServers servers =
      new LocalDataServer(
          SELF,
          request -> {
            asked.add(request);
            return LEASED;
          });

  @Test
  void answersBeforeTheCallReturns() {
    servers.call(3, LEASE, answers::add);
    assertThat(asked).containsExactly(LEASE);
    assertThat(answers).containsExactly(LEASED);
  }

  @Test
  void anUnknownServerIsUnavailable() {
    servers.call(4, LEASE, answers::add);
    assertThat(asked).isEmpty();
    assertThat(answers).extracting(Reply::getStatus).containsExactly(Status.UNAVAILABLE);
    assertThat(answers.get(0).getMessage()).contains("no server 4");
  }

  @Test
  void listsItself() {
    assertThat(servers.servers()).containsExactly(SELF);
  }
}
