package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.proto.Reply;
import io.takofs.rpc.ListingReader;
import java.util.ArrayList;
import java.util.List;

/** An entry of a listing, as callers read it. */
record Listed(String name, long length, long modificationMs, boolean hasAcl) {
  static List<Listed> of(Reply reply) {
    List<Listed> entries = new ArrayList<>();
    try {
      ListingReader page = new ListingReader(reply.getListing());
      while (page.hasNext()) {
        page.next();
        entries.add(
            new Listed(page.name(), page.length(), page.modificationTimeMs(), page.hasAcl()));
      }
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
    return entries;
  }

  static List<String> names(Reply reply) {
    return of(reply).stream().map(Listed::name).toList();
  }
}
