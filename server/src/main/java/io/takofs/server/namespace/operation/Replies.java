package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.FileInfo;
import io.takofs.proto.Reply;

/** The replies that many operations share. */
public final class Replies {
  /** A message is recorded with its reply, so it is cut to this many characters. */
  private static final int MESSAGE_MAX = 500;

  private Replies() {}

  public static Reply done() {
    return Reply.newBuilder().setDone(true).build();
  }

  static Reply file(FileInfo.Builder file) {
    return Reply.newBuilder().setFile(file).build();
  }

  public static Reply failure(TakoException failure) {
    String message = failure.getMessage();
    if (message.length() > MESSAGE_MAX) {
      int end = MESSAGE_MAX - 3;
      if (Character.isHighSurrogate(message.charAt(end - 1))) {
        end--;
      }
      message = message.substring(0, end) + "...";
    }
    return Reply.newBuilder().setStatus(failure.status()).setMessage(message).build();
  }
}
