package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/** Stores on a page zone of plain memory, for tests of other packages. */
public final class PagedStores {
  private final PageMemory memory;

  /** An empty zone of {@code pages} pages. */
  public PagedStores(int pages) {
    memory = PageMemory.of(ByteBuffer.allocateDirect(pages * Layout.PAGE_SIZE));
    PagedStore.format(memory);
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
