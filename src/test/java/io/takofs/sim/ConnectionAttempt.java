package io.takofs.sim;

import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Refusal;
import java.io.IOException;

/** One connect: the way there, the acceptor's answer, the way back. */
final class ConnectionAttempt {
  private final SimTransport from;
  private final SimNetwork network;
  private final String endpoint;
  private final QueuePairConfig config;
  private final byte[] privateData;
  private boolean abandoned;
  private SimQueuePair pair;
  private String refusal;

  ConnectionAttempt(
      SimTransport from, String endpoint, QueuePairConfig config, byte[] privateData) {
    this.from = from;
    this.network = from.network();
    this.endpoint = endpoint;
    this.config = config;
    this.privateData = privateData.clone();
  }

  SimQueuePair run(long timeoutNs) throws IOException {
    network.schedule(latencyNs(network.listener(endpoint)), this::arrive);
    network.scheduler().await(timeoutNs, () -> pair != null || refusal != null);
    if (!from.process().isAlive()) {
      abandoned = true;
    }
    from.process().goOn(network.scheduler());
    if (pair != null) {
      return pair;
    }
    abandoned = true;
    if (refusal != null) {
      throw Refusal.exception(endpoint, refusal);
    }
    throw new IOException(
        "cannot connect to " + endpoint + ": no answer within " + timeoutNs + " ns");
  }

  private void arrive() {
    SimListener listener = network.listener(endpoint);
    if (listener == null) {
      refuse("nobody listens there", null);
    } else if (!network.links().isCut(from.process(), listener.transport().process())) {
      listener.transport().process().run(() -> ask(listener));
    }
  }

  private void ask(SimListener listener) {
    ConnectionAcceptor.Accept accept;
    try {
      accept = listener.acceptor().onConnect(from.process().name(), privateData.clone());
    } catch (IOException e) {
      refuse(Refusal.text(e), listener);
      return;
    }
    listener.transport().schedule(latencyNs(listener), () -> establish(listener, accept));
  }

  private void establish(SimListener listener, ConnectionAcceptor.Accept accept) {
    if (abandoned || !from.process().isAlive()) {
      listener.acceptor().onAborted(accept);
      return;
    }
    SimQueuePair accepted =
        listener
            .transport()
            .newPair(accept.config(), from.process().name(), privateData, listener.acceptor());
    SimQueuePair connected = from.newPair(config, endpoint, accept.privateData().clone(), null);
    accepted.link(connected);
    connected.link(accepted);
    listener.acceptor().onConnected(accepted, accept);
    network.schedule(latencyNs(listener), () -> answer(connected, listener));
  }

  private void answer(SimQueuePair connected, SimListener listener) {
    if (abandoned || answersAreLost(listener)) {
      connected.close();
    } else {
      pair = connected;
    }
  }

  /**
   * Refuses.
   *
   * @param listener who refuses; null when the host itself does
   */
  private void refuse(String why, SimListener listener) {
    network.schedule(
        latencyNs(listener),
        () -> {
          if (!answersAreLost(listener)) {
            refusal = why;
          }
        });
  }

  private boolean answersAreLost(SimListener listener) {
    return listener != null
        && network.links().isCut(listener.transport().process(), from.process());
  }

  private long latencyNs(SimListener listener) {
    return network.latencyNs(
        from.process(), listener == null ? null : listener.transport().process());
  }
}
