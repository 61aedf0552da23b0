package io.takofs.server.loggroup;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetSafeMode;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a superuser has stopped all changes. The namespace stays as it is then: reads go on,
 * sessions open, no session or lease expires; space deleted before is still reclaimed. It is not in
 * the log: a server that starts is not in safe mode.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class SafeMode {
  private static final Logger LOG = LoggerFactory.getLogger(SafeMode.class);

  private final StateMachine machine;
  private boolean on;

  SafeMode(StateMachine machine) {
    this.machine = machine;
  }

  boolean isOn() {
    return on;
  }

  /**
   * Enters or leaves it, or only says whether it is on.
   *
   * @throws TakoException PERMISSION_DENIED for a change by anybody but a superuser
   */
  public Reply set(Caller caller, SetSafeMode request) throws TakoException {
    if (request.hasOn()) {
      if (!caller.getSuperuser()) {
        throw new TakoException(
            Status.PERMISSION_DENIED,
            "user "
                + caller.getUser()
                + " may not change safe mode: that takes the server's user or its supergroup");
      }
      if (on != request.getOn()) {
        LOG.info("safe mode is {}, says {}", request.getOn() ? "on" : "off", caller.getUser());
      }
      on = request.getOn();
    }
    return Reply.newBuilder().setSafeMode(on).build();
  }

  /**
   * Lets pass what may be logged now.
   *
   * @throws TakoException SAFE_MODE
   */
  public void check(long clientId, Request request) throws TakoException {
    if (on && changes(clientId, request)) {
      throw new TakoException(
          Status.SAFE_MODE,
          "the server is in safe mode: nothing can be changed until a superuser ends that (tako"
              + " safemode leave)");
    }
  }

  /** Ending a session that writes nothing changes no file. */
  private boolean changes(long clientId, Request request) {
    return switch (request.getOperationCase()) {
      case OPEN_SESSION -> false;
      case CLOSE_SESSION -> machine.hasLeases(clientId);
      default -> true;
    };
  }
}
