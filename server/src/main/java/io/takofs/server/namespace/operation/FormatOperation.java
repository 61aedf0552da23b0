package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.FormatGroup;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;

/**
 * The first entry of a group: its limits, and the root directory. Later ones change nothing but how
 * many copies of file data are kept at most.
 */
public final class FormatOperation {
  private FormatOperation() {}

  public static Reply apply(Context context, FormatGroup format) throws TakoException {
    if (format.getReplicationMax() < 1) {
      throw new TakoException(Status.INVALID_ARGUMENT, "a group keeps one copy at least");
    }
    if (context.state().isFormatted()) {
      context.state().setReplicationMax(context.tx(), format.getReplicationMax());
    } else {
      context.state().format(context.tx(), format);
    }
    return Replies.done();
  }
}
