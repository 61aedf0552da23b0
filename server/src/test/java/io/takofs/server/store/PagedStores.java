package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Stores on a page zone of plain memory, for tests of other packages. */
public final class PagedStores {
  /** Whether the medium fails to make a page durable. */
  public boolean failing;

  private final PageMemory memory;

  /** An empty zone of {@code pages} pages. */
  public PagedStores(int pages) {
    memory = PageMemory.of(ByteBuffer.allocateDirect(pages * Layout.PAGE_SIZE), this::persist);
    PagedStore.format(memory);
  }

  private void persist(long offset, int length) throws IOException {
    if (failing) {
      throw new IOException("as the test wants it");
    }
  }

  /** The store as it was at its last finished checkpoint. */
  public PagedStore open() {
    try {
      return PagedStore.open(memory);
    } catch (TakoException e) {
      throw new IllegalStateException(e);
    }
  }
}
