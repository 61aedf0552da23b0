package io.takofs.rpc;

import io.takofs.base.TakoException;
import io.takofs.proto.Reply;

/** Receives the outcome of one asynchronous call, exactly once; must not block. */
public interface ReplyHandler {
  /** The server answered; the reply's status says what. */
  void onReply(Reply reply);

  /** No answer: DEADLINE_EXCEEDED or DISCONNECTED; the outcome is unknown. */
  void onFailure(TakoException failure);
}
