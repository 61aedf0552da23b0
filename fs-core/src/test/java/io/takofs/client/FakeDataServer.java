package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerConnection;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.client.internal.zone.ServedArena;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A server with one arena of file data in the client's process, which fails when it is told to.
 *
 * <p>Thread rule: any thread.
 */
final class FakeDataServer {
  final int id;
  final ByteBuffer arena;
  private final List<Connection> connections = new ArrayList<>();
  private boolean down;
  private int looksUntilEvent = -1;
  private Runnable event = () -> {};
  private int connects;
  private int refusals;
  private int secondZones;
  private int hellos;
  private int toRefuse; // connections, from now on
  private int key; // of tickets; 0 for any
  private int silences; // connections that get no answer
  private CountDownLatch silence;
  private final ServedArena served; // null where the arena is mapped
  private final List<RemoteZone> zones = new ArrayList<>();

  /** One with {@code memory} as its arena. */
  FakeDataServer(int id, ByteBuffer memory) {
    this(id, memory, null);
  }

  /** One whose arena clients reach by transfers. */
  FakeDataServer(int id, ServedArena served) {
    this(id, served.bytes(), served);
  }

  private FakeDataServer(int id, ByteBuffer memory, ServedArena served) {
    this.id = id;
    this.arena = memory.order(ByteOrder.LITTLE_ENDIAN);
    this.served = served;
  }

  String name() {
    return "data" + id + ":7420";
  }

  /** Connections so far. */
  synchronized int connects() {
    return connects;
  }

  /** Connections that were refused so far. */
  synchronized int refusals() {
    return refusals;
  }

  /** Data zones that were opened while the same client had another one open here. */
  synchronized int secondZones() {
    return secondZones;
  }

  /** Sessions that were shown a ticket so far. */
  synchronized int hellos() {
    return hellos;
  }

  /** Takes tickets of this key only. */
  synchronized void take(int ticketKey) {
    key = ticketKey;
  }

  /** Ends all connections and takes no more. */
  synchronized void die() {
    down = true;
    connections.forEach(connection -> connection.open = false);
    zones.forEach(RemoteZone::close);
  }

  /** As {@link #die}, when a client has looked so many times whether its connection stands. */
  void dieAfter(int looks) {
    after(looks, this::die);
  }

  /** Lets something happen once clients have looked so many times whether connections stand. */
  synchronized void after(int looks, Runnable what) {
    looksUntilEvent = looks;
    event = what;
  }

  /** Shows no data before it has refused that so often. */
  synchronized void refuse(int count) {
    toRefuse = count;
  }

  synchronized void revive() {
    down = false;
    looksUntilEvent = -1;
  }

  /** Gives clients that connect no answer until {@code latch} is counted down. */
  synchronized void beSilent(CountDownLatch latch) {
    silence = latch;
  }

  /** Connections that got no answer so far. */
  synchronized int silences() {
    return silences;
  }

  private void awaitAnswer() throws TakoException {
    CountDownLatch latch;
    synchronized (this) {
      latch = silence;
      silences += latch == null ? 0 : 1;
    }
    if (latch != null) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      throw new TakoException(Status.UNAVAILABLE, name() + " did not answer");
    }
  }

  private boolean look(Connection connection) {
    Runnable due = () -> {};
    synchronized (this) {
      if (looksUntilEvent >= 0 && looksUntilEvent-- == 0) {
        due = event;
      }
    }
    due.run();
    return connection.open;
  }

  ServerConnection connect(long clientId) throws TakoException {
    awaitAnswer();
    return accept(clientId);
  }

  private synchronized ServerConnection accept(long clientId) throws TakoException {
    if (down) {
      refusals++;
      throw new TakoException(Status.UNAVAILABLE, name() + " is down");
    }
    connects++;
    Connection connection = new Connection(clientId);
    connections.add(connection);
    return connection;
  }

  private synchronized void note(Connection opening) {
    for (Connection other : connections) {
      if (other != opening && other.clientId == opening.clientId && other.hasZone && other.open) {
        secondZones++;
      }
    }
    opening.hasZone = true;
  }

  private synchronized void refuseSome() throws TakoException {
    if (toRefuse > 0) {
      toRefuse--;
      throw new TakoException(Status.BUSY, name() + " still has the earlier connection");
    }
  }

  private synchronized RemoteZone connect(ServedArena arena) throws TakoException {
    try {
      RemoteZone zone = arena.connect();
      zones.add(zone);
      return zone;
    } catch (IOException e) {
      throw new TakoException(Status.UNAVAILABLE, name() + ": " + e.getMessage(), e);
    }
  }

  private final class Connection implements ServerConnection {
    private final long clientId;
    private boolean hasZone;
    private volatile boolean open = true;
    private boolean admitted;

    Connection(long clientId) {
      this.clientId = clientId;
    }

    @Override
    public Reply call(long caller, long sequence, Request request, long deadlineNs)
        throws TakoException {
      synchronized (FakeDataServer.this) {
        if (!open) {
          throw new TakoException(Status.DISCONNECTED, name() + " is gone");
        }
        if (!request.hasOpenDataSession()
            || caller != clientId
            || request.getOpenDataSession().getClientId() != clientId) {
          return Reply.newBuilder().setStatus(Status.MALFORMED).setMessage("no ticket").build();
        }
        if (key != 0 && request.getOpenDataSession().getTicket().getKey() != key) {
          return Reply.newBuilder()
              .setStatus(Status.PERMISSION_DENIED)
              .setMessage("the ticket is not good")
              .build();
        }
        hellos++;
        admitted = true;
        return Reply.newBuilder().setDone(true).build();
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public String transportVerdict() {
      return "fake";
    }

    @Override
    public DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException {
      if (!admitted || !open) {
        throw new TakoException(Status.DISCONNECTED, name() + " shows no data");
      }
      refuseSome();
      note(this);
      if (served != null) {
        return connect(served);
      }
      ByteBuffer memory = arena.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      return new MappedZone(
          List.of(RemoteArena.newBuilder().setLength(arena.capacity()).build()),
          index -> open ? memory : null,
          () -> look(this),
          () -> {},
          () -> null);
    }

    @Override
    public void leave() {
      open = false;
    }

    @Override
    public void close() {
      open = false;
    }
  }
}
