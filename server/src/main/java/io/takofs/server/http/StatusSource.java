package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.ServerStatus;

/** Gives pages the server's status. */
@FunctionalInterface
interface StatusSource {
  /**
   * The status, which may be a moment old.
   *
   * @throws TakoException UNAVAILABLE when the server is stuck
   */
  ServerStatus get() throws TakoException;
}
