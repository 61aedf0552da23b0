package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.namespace.state.OpenLease;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The files open for writing, page by page. */
class LeaseListTest {
  @Test
  void shouldListFilesThatWereBornInAnyShard() {
    Harness server = new Harness();
    Harness.Client client = server.superuser();
    Set<Long> opened = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      client.mkdirs("/d" + i);
      opened.add(client.opened("/d" + i + "/f").getFile().getId());
    }
    // Ids are unsigned: those of half of the shards are negative as a long.
    assertThat(opened).anyMatch(id -> id < 0).anyMatch(id -> id > 0);
    List<Long> listed = new ArrayList<>();
    long after = 0;
    List<OpenLease> page;
    do {
      page = server.machine.leases(after, 7);
      page.forEach(lease -> listed.add(lease.fileId()));
      after = page.isEmpty() ? 0 : page.get(page.size() - 1).fileId();
    } while (page.size() == 7);
    assertThat(listed)
        .containsExactlyInAnyOrderElementsOf(opened)
        .isSortedAccordingTo(Long::compareUnsigned);
  }
}
