package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ten million files fit because one takes few bytes, and none of the heap. */
class FootprintTest {
  private static final int FILES = 20_000;

  @Test
  void shouldTakeFewBytesOfPagesAFile() {
    PagedStore store = new PagedStores(8192).open();
    Harness server = new Harness(store, List.of(1L << 30, 1L << 30));
    Harness.Client client = server.superuser();
    client.mkdirs("/data");
    for (int i = 0; i < FILES; i++) {
      client.file("/data/part-m-%05d".formatted(i), 50_000);
      if (store.checkpointDue()) {
        store.checkpoint(server.log.size());
      }
    }
    double bytes = (double) store.pagesUsed() * Layout.PAGE_SIZE / FILES;
    System.out.printf("%.0f bytes of pages a file with one extent%n", bytes);
    assertThat(bytes).isBetween(50.0, 180.0);
  }
}
