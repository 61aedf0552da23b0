package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

class FewMembersTest {
  private static ServerEntry server(int id, int segments, int pages) {
    return ServerEntry.newBuilder()
        .setId(id)
        .setLogSegments(segments)
        .setMetadataPages(pages)
        .build();
  }

  private static String warning(List<Integer> members, ServerEntry... servers) {
    ClusterMap map =
        ClusterMap.newBuilder()
            .addAllServers(List.of(servers))
            .addGroups(GroupEntry.newBuilder().setId(1).addAllMembers(members))
            .build();
    return FewMembers.warning(map, 1, 3).orElse("");
  }

  @Test
  void shouldSayNothingWhereAllIsAsItShouldBe() {
    ServerEntry[] three = {server(1, 8, 100), server(2, 8, 100), server(3, 8, 100)};
    assertThat(warning(List.of(1, 2, 3), three)).isEmpty();
    assertThat(warning(List.of(1), three)).as("the others are about to be taken in").isEmpty();
    assertThat(warning(List.of(1), server(1, 8, 100), server(2, 3, 9)))
        .as("two servers keep it on one")
        .isEmpty();
    assertThat(
            warning(
                List.of(1, 2, 3),
                server(1, 8, 100),
                server(2, 8, 100),
                server(3, 8, 100),
                server(4, 3, 100)))
        .isEmpty();
    assertThat(FewMembers.warning(ClusterMap.getDefaultInstance(), 1, 3)).isEmpty();
  }

  @Test
  void shouldNameThoseThatCannotKeepTheNamespaceAndWhy() {
    assertThat(warning(List.of(1), server(1, 8, 100), server(2, 3, 100), server(3, 8, 90)))
        .contains("on 1 of 3 servers", "survives the loss of 0 of them")
        .contains("server 2 has a log of 3 segments, and 8 are needed")
        .contains("server 3 has 90 metadata pages, and server 1 has 100")
        .contains("; stop each of these");
  }

  @Test
  void shouldNotCountThoseThatLeaveOrAreLost() {
    ServerEntry lost = server(3, 3, 100).toBuilder().setState(ServerEntry.State.LOST).build();
    assertThat(warning(List.of(1), server(1, 8, 100), server(2, 3, 100), lost)).isEmpty();
  }

  @Test
  void shouldSayThatFewerKeepTheNamespaceWhileOthersLeave() {
    ServerEntry leaves =
        server(3, 8, 100).toBuilder().setState(ServerEntry.State.DECOMMISSIONING).build();
    assertThat(warning(List.of(1), server(1, 8, 100), server(2, 8, 100), leaves))
        .contains("on 1 of 3 servers", "survives the loss of 0", "while server 3 leaves; tako");
    assertThat(warning(List.of(1, 2, 3), server(1, 8, 100), server(2, 8, 100), leaves))
        .as("it is a member still")
        .isEmpty();
    ServerEntry[] four = {server(1, 8, 100), server(2, 8, 100), leaves, server(4, 8, 100)};
    assertThat(warning(List.of(1, 2, 4), four)).isEmpty();
  }

  @Test
  void shouldLeaveADamagedOneToComeBackByItself() {
    ServerEntry damaged = server(3, 8, 100).toBuilder().setDamage("CORRUPT: a page").build();
    assertThat(warning(List.of(1, 2), server(1, 8, 100), server(2, 8, 100), damaged)).isEmpty();
  }
}
