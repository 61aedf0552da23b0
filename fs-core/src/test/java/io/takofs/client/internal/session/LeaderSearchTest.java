package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LeaderSearchTest {
  private final AtomicReference<String> asked = new AtomicReference<>();
  private final LeaderSearch search = new LeaderSearch(connector(), Clock.SYSTEM);

  /** So members stand for election when their leader is gone. */
  @Test
  void shouldAskMembersInTheOrderOfTheirNumbersFromTheOneThatFailedOn() {
    search.learn(
        ClusterMap.newBuilder()
            .setEpoch(1)
            .addServers(server(1))
            .addServers(server(2))
            .addServers(server(3))
            .addGroups(GroupEntry.newBuilder().setId(1).addMembers(3).addMembers(1).addMembers(2))
            .build());
    List<String> order = new ArrayList<>();
    for (int leader : List.of(1, 3, 2)) {
      asked.set("member-" + leader + ":9");
      search.failed(asked.get(), "it is gone");
      order.add(asked.get());
      search.failed(asked.get(), "it is gone, too");
      order.add(asked.get());
      search.found();
    }
    assertThat(order)
        .containsExactly(
            "member-2:9", "member-3:9", "configured:9", "member-1:9", "member-3:9", "configured:9");
  }

  private static ServerEntry server(int id) {
    return ServerEntry.newBuilder().setId(id).setHost("member-" + id).setPort(9).build();
  }

  private Connector connector() {
    return (Connector)
        Proxy.newProxyInstance(
            Connector.class.getClassLoader(),
            new Class<?>[] {Connector.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "server" -> asked.get();
                  case "servers" -> List.of("configured:9");
                  case "redirect" -> {
                    asked.set((String) arguments[0]);
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
