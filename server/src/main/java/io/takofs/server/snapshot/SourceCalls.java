package io.takofs.server.snapshot;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import java.util.function.Consumer;

/** The way to the member whose checkpoint is taken over. */
@FunctionalInterface
public interface SourceCalls {
  /**
   * Asks it, without waiting.
   *
   * @param answer gets the reply exactly once, on any thread; UNAVAILABLE when the member cannot be
   *     reached
   */
  void call(Request request, Consumer<Reply> answer);
}
