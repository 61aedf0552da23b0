package io.takofs.rpc;

import io.takofs.base.TakoException;
import io.takofs.proto.Request;
import io.takofs.proto.Status;

/**
 * Failures of calls that have no reply, as callers are told them.
 *
 * @param transport that carries the calls
 * @param server the server's name, as it stands in a sentence
 */
record CallFailures(String transport, String server) {
  TakoException disconnected(String why) {
    return new TakoException(
        Status.DISCONNECTED, "the " + transport + " connection to " + server + " is gone: " + why);
  }

  /** The call had its time; {@code waitedNs} is 0 when that was not measured. */
  TakoException deadlineExceeded(String operation, long waitedNs) {
    return new TakoException(
        Status.DEADLINE_EXCEEDED,
        server
            + " did not answer "
            + operation
            + (waitedNs > 0 ? " for " + waitedNs / 1_000_000 + " ms" : " in time")
            + " over "
            + transport
            + "; whether it was done is unknown");
  }

  /** Refuses a request that fits no slot of {@code most} bytes. */
  static void checkSize(Request request, int most) throws TakoException {
    int size = RpcMessage.size(request);
    if (size > most) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          RpcMessage.operation(request)
              + " takes "
              + size
              + " bytes, a request may have at most "
              + most
              + "; use shorter names or fewer extents a call");
    }
  }
}
