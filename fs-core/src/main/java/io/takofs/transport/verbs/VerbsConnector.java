package io.takofs.transport.verbs;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Refusal;
import java.io.IOException;
import java.util.Optional;

/** Makes one connection, on the caller's thread, within a deadline. */
final class VerbsConnector implements ConnectionEvents {
  private final VerbsTransport transport;
  private final String endpoint;
  private final long deadlineNs;

  VerbsConnector(VerbsTransport transport, String endpoint, long timeoutNs) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.deadlineNs = System.nanoTime() + timeoutNs;
  }

  QueuePair connect(QueuePairConfig config, byte[] privateData) throws IOException {
    try {
      VerbsConnection connection =
          transport
              .control()
              .resolve(Endpoints.parse(endpoint, transport.control().address()), this, nanosLeft());
      return connect(connection, config, privateData);
    } catch (VerbsRejectedException e) {
      throw refused(e);
    } catch (IOException e) {
      Status status = e instanceof TakoException known ? known.status() : Status.UNAVAILABLE;
      String why = e.getMessage() == null ? e.toString() : e.getMessage();
      throw new TakoException(status, "cannot connect to " + endpoint + ": " + why, e);
    }
  }

  private QueuePair connect(VerbsConnection connection, QueuePairConfig config, byte[] privateData)
      throws IOException {
    try (Undo undo = new Undo()) {
      undo.add(connection); // which the pair closes too
      VerbsQueuePair pair =
          undo.add(
              transport.newQueuePair(
                  config, connection, "verbs server at " + endpoint, Optional.empty()));
      pair.setRemotePrivateData(connection.connect(privateData, nanosLeft()));
      pair.establish();
      undo.keep();
      return pair;
    }
  }

  private TakoException refused(VerbsRejectedException rejection) {
    TakoException refusal =
        Refusal.exception(endpoint, RefusalData.decode(rejection.privateData()));
    refusal.initCause(rejection);
    return refusal;
  }

  private long nanosLeft() throws TakoException {
    long left = deadlineNs - System.nanoTime();
    if (left <= 0) {
      throw new TakoException(Status.DEADLINE_EXCEEDED, "the deadline has passed");
    }
    return left;
  }

  @Override
  public void onRequest(VerbsConnection connection, byte[] privateData) {
    throw new IllegalStateException("a request at the connecting side");
  }

  @Override
  public void onEstablished(VerbsConnection connection) {}

  @Override
  public void onDisconnected(VerbsConnection connection, String reason) {
    transport.onDisconnected(connection, reason);
  }
}
