package io.takofs.client.internal.zone;

import io.takofs.base.Clock;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor.Accept;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * An arena that is served over TCP within this process, and a client's memory.
 *
 * <p>Thread rule: any thread.
 */
public final class ServedArena implements AutoCloseable {
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final LocalMemory memory;
  private final MemoryRegion arena;
  private final String endpoint;
  private final List<QueuePair> pairs = new CopyOnWriteArrayList<>();
  private volatile boolean standsStill;

  /** Serves an arena of {@code size} bytes. */
  public ServedArena(int size) throws IOException {
    memory = new LocalMemory(transport, new MemoryBudget(64L << 20));
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue served = transport.createCompletionQueue(1);
    arena = domain.allocate(size, Access.REMOTE_READ_WRITE);
    Accept accept = new Accept(new QueuePairConfig(domain, served, served, 1, 1), new byte[0]);
    endpoint = transport.listen("127.0.0.1:0", (remote, privateData) -> accept).endpoint();
  }

  /** Returns the memory from which clients transfer. */
  LocalMemory memory() {
    return memory;
  }

  /** Returns the arena's own memory, which a test may change. */
  public ByteBuffer bytes() {
    return arena.buffer();
  }

  /** Connects a client to the arena, which has number 0. */
  public RemoteZone connect() throws IOException {
    CompletionQueue completions = transport.createCompletionQueue(RemoteZone.OPERATIONS_MAX);
    QueuePair pair =
        transport.connect(
            endpoint,
            new QueuePairConfig(
                memory.domain(), completions, completions, RemoteZone.OPERATIONS_MAX, 0),
            new byte[0],
            TimeUnit.SECONDS.toNanos(20));
    Arenas shown =
        Arenas.newBuilder()
            .addArenas(
                RemoteArena.newBuilder()
                    .setAddress(arena.address())
                    .setRkey(arena.rkey())
                    .setLength(arena.buffer().capacity()))
            .build();
    pairs.add(pair);
    return new RemoteZone(shown, stoppable(pair), completions, memory.staging(), Clock.SYSTEM);
  }

  /** Transfers that begin from now on go no further until {@link #goOn}. */
  public void standStill() {
    standsStill = true;
  }

  /** Transfers go on. */
  public void goOn() {
    standsStill = false;
    pairs.forEach(QueuePair::ring);
  }

  /** {@code pair}, whose doorbell does nothing while this stands still. */
  private QueuePair stoppable(QueuePair pair) {
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (proxy, method, arguments) -> {
              if (standsStill && method.getName().equals("ring")) {
                return null;
              }
              try {
                return method.invoke(pair, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Override
  public void close() {
    memory.close();
    transport.close();
  }
}
