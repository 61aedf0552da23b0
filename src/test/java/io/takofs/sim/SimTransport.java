package io.takofs.sim;

import io.takofs.base.Invariant;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The network card of one simulated process. */
public final class SimTransport implements Transport {
  private static final String PREFIX = "sim:";
  private static final int PAGE = 4096;

  private final SimNetwork network;
  private final SimProcess process;
  private final TransportCounters counters = new TransportCounters();
  private final List<SimQueuePair> pairs = new ArrayList<>();
  private final List<SimDomain> domains = new ArrayList<>();
  private final List<SimListener> listeners = new ArrayList<>();
  private long nextAddress;

  SimTransport(SimNetwork network, SimProcess process) {
    this.network = network;
    this.process = process;
    this.nextAddress = (1L + network.nextNumber()) << 40;
  }

  SimNetwork network() {
    return network;
  }

  SimScheduler scheduler() {
    return network.scheduler();
  }

  SimProcess process() {
    return process;
  }

  /** Runs {@code action} in this process, if it lives then. */
  void schedule(long delayNs, Runnable action) {
    scheduler().schedule(process, delayNs, action);
  }

  long nextAddress(int length) {
    long address = nextAddress;
    long pages = (length + PAGE - 1L) / PAGE + 1 + scheduler().random().nextInt(16);
    nextAddress += pages * PAGE;
    return address;
  }

  int nextKey() {
    return network.nextNumber() << 8 | scheduler().random().nextInt(256);
  }

  List<SimQueuePair> connectedPairs() {
    return pairs.stream().filter(pair -> pair.state() == QueuePair.State.CONNECTED).toList();
  }

  void remove(SimQueuePair pair) {
    if (pairs.remove(pair)) {
      counters.add(Counter.QUEUE_PAIRS, -1);
    }
  }

  /** The process is gone; its peers find out. */
  void die() {
    List.copyOf(listeners).forEach(SimListener::close);
    List.copyOf(pairs).forEach(SimQueuePair::die);
    if (network.strayNs() == 0) {
      domains.forEach(SimDomain::close);
    } else {
      network.schedule(network.strayNs(), () -> domains.forEach(SimDomain::close));
    }
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    SimDomain domain = new SimDomain(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public boolean hasMemoryWindows() {
    return network.conditions().windows();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    return new SimCompletionQueue(this, capacity);
  }

  @Override
  public Listener listen(String endpoint, ConnectionAcceptor acceptor) throws IOException {
    String name =
        endpoint.isEmpty() ? PREFIX + process.name() + ":" + network.nextNumber() : endpoint;
    if (!name.startsWith(PREFIX) || network.listener(name) != null) {
      throw new IOException("cannot listen at " + name + ": taken, or not sim:NAME");
    }
    SimListener listener = new SimListener(this, name, acceptor);
    listeners.add(listener);
    network.add(listener);
    return listener;
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    Invariant.check(privateData.length <= 56, "private data has at most 56 bytes");
    ConnectionAttempt attempt = new ConnectionAttempt(this, endpoint, config, privateData);
    return attempt.run(timeoutNs);
  }

  SimQueuePair newPair(
      QueuePairConfig config, String remoteName, byte[] remoteData, ConnectionAcceptor acceptor) {
    SimQueuePair pair = new SimQueuePair(this, config, remoteName, remoteData, acceptor);
    pairs.add(pair);
    counters.add(Counter.QUEUE_PAIRS, 1);
    counters.add(Counter.CONNECTS, 1);
    return pair;
  }

  @Override
  public void close() {
    List.copyOf(listeners).forEach(SimListener::close);
    List.copyOf(pairs).forEach(SimQueuePair::close);
  }
}
