package io.takofs.server.log;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/** Members of a group that answer nothing. */
class SilentPeers implements LogPeers {
  private final List<Request> asked = new ArrayList<>();

  /** The requests that they got, the first one first. */
  List<Request> asked() {
    return Collections.unmodifiableList(asked);
  }

  @Override
  public void call(int server, Request request, Consumer<Reply> answer) {
    asked.add(request);
  }

  @Override
  public LogTransport transportTo(int server) {
    return null;
  }

  @Override
  public void connect(
      int server, LogTransport via, long term, long grant, Consumer<QueuePair> answer) {
    throw new UnsupportedOperationException("nobody answers");
  }
}
