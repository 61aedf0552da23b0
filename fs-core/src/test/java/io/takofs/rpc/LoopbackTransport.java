package io.takofs.rpc;

import io.takofs.base.Invariant;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.WorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * Both ends of connections within one process, for tests: writes are copies, made when the doorbell
 * rings, or later when the pair is held back. With or without a thread of its own.
 *
 * <p>Thread rule: any thread; one lock for everything.
 */
final class LoopbackTransport implements Transport {
  private final TransportCounters counters = new TransportCounters(); // nobody asks
  private final ExecutorService events;
  private final Map<Integer, Region> regions = new HashMap<>();
  private final Map<String, ConnectionAcceptor> listeners = new HashMap<>();
  private final List<Pair> pairs = new ArrayList<>();
  private final AtomicBoolean failNextAllocation = new AtomicBoolean();
  private final AtomicBoolean failNextQueue = new AtomicBoolean();
  private LongConsumer silence;
  private boolean mapsMemory;
  private int lastPair;
  private int nextKey = 1;
  private long nextAddress = 1L << 32;

  LoopbackTransport(boolean hasThread) {
    events = hasThread ? Executors.newSingleThreadExecutor() : null;
  }

  @Override
  public String name() {
    return "loopback";
  }

  @Override
  public boolean mapsMemory() {
    return mapsMemory;
  }

  /** From now on it claims to map memory, though each peer has taken its memory away. */
  void claimToMap() {
    mapsMemory = true;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  /** The next memory that is asked for is not there. */
  void failNextAllocation() {
    failNextAllocation.set(true);
  }

  /** The next completion queue that is asked for cannot be made. */
  void failNextQueue() {
    failNextQueue.set(true);
  }

  /** From now on nobody answers; {@code wait} is given the time that an attempt takes. */
  void silence(LongConsumer wait) {
    silence = wait;
  }

  /** Regions that are open. */
  synchronized int openRegions() {
    return regions.size();
  }

  /** Connecting sides that are open. */
  synchronized long openConnections() {
    return pairs.stream().filter(pair -> pair.acceptor == null).count();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return new Domain();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    if (failNextQueue.getAndSet(false)) {
      throw new OutOfMemoryError("as the test wants it");
    }
    return new Queue(capacity);
  }

  @Override
  public Listener listen(String endpoint, ConnectionAcceptor acceptor) {
    synchronized (this) {
      listeners.put(endpoint, acceptor);
    }
    return new Listener() {
      @Override
      public String endpoint() {
        return endpoint;
      }

      @Override
      public void close() {
        synchronized (LoopbackTransport.this) {
          listeners.remove(endpoint);
        }
      }
    };
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    if (silence != null) {
      silence.accept(timeoutNs);
      throw new IOException("no answer");
    }
    ConnectionAcceptor acceptor;
    synchronized (this) {
      acceptor = listeners.get(endpoint);
    }
    if (acceptor == null) {
      throw new IOException("nobody listens at " + endpoint);
    }
    ConnectionAcceptor.Accept accept = acceptor.onConnect("test client", privateData.clone());
    Pair near;
    Pair far;
    synchronized (this) {
      near = new Pair(config, accept.privateData().clone(), null);
      far = new Pair(accept.config(), privateData.clone(), acceptor);
      near.peer = far;
      far.peer = near;
      pairs.add(near);
      pairs.add(far);
    }
    acceptor.onConnected(far, accept);
    return near;
  }

  /** Breaks every connection, as a network would. */
  void disconnectAll() {
    List<Pair> broken;
    synchronized (this) {
      broken = List.copyOf(pairs);
    }
    broken.forEach(pair -> pair.end("the network is gone", true));
  }

  /** Holds back what the accepting sides send from now on, or sends them. */
  void holdReplies(boolean hold) {
    synchronized (this) {
      for (Pair pair : pairs) {
        if (pair.acceptor != null) {
          pair.held = hold;
          if (!hold) {
            pair.ring();
          }
        }
      }
    }
  }

  @Override
  public void close() {
    disconnectAll();
    if (events != null) {
      events.shutdownNow();
    }
  }

  private synchronized Region newRegion(Domain domain, int length, Access access) {
    ByteBuffer memory = ByteBuffer.allocateDirect(length);
    Region region = new Region(domain, memory, nextAddress, nextKey++, access);
    nextAddress += length + 4096L;
    regions.put(region.rkey(), region);
    return region;
  }

  private final class Region extends BufferRegion {
    private final Domain domain;

    Region(Domain domain, ByteBuffer memory, long address, int key, Access access) {
      super(memory, address, key, access);
      this.domain = domain;
    }

    @Override
    public void close() {
      synchronized (LoopbackTransport.this) {
        regions.remove(rkey());
      }
    }
  }

  private final class Domain implements ProtectionDomain {
    @Override
    public MemoryRegion allocate(int length, Access access) {
      if (failNextAllocation.getAndSet(false)) {
        throw new OutOfMemoryError("as the test wants it");
      }
      return newRegion(this, length, access);
    }

    @Override
    public MemoryRegion register(MappedMemory memory, long offset, int length, Access access) {
      throw new UnsupportedOperationException("tests of calls need no mapped memory");
    }

    @Override
    public void close() {
      synchronized (LoopbackTransport.this) {
        regions.values().removeIf(region -> region.domain == this);
      }
    }
  }

  private record Done(
      Pair pair, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {}

  private final class Queue implements CompletionQueue {
    private final int capacity;
    private final ArrayDeque<Done> done = new ArrayDeque<>();
    private Runnable callback;
    private boolean woken;
    private boolean closed;

    Queue(int capacity) {
      this.capacity = capacity;
    }

    void add(Done completion) {
      synchronized (LoopbackTransport.this) {
        Invariant.check(done.size() < capacity, "completion queue overflow");
        done.add(completion);
        LoopbackTransport.this.notifyAll();
        if (callback != null && !events.isShutdown()) {
          events.execute(callback);
        }
      }
    }

    @Override
    public int poll(CompletionHandler handler, int max) {
      int count = 0;
      while (count < max) {
        Done next;
        synchronized (LoopbackTransport.this) {
          Invariant.check(!closed, "a closed completion queue is polled");
          next = done.poll();
        }
        if (next == null) {
          return count;
        }
        handler.onCompletion(
            next.pair, next.id, next.opcode, next.status, next.bytes, next.immediate);
        count++;
      }
      return count;
    }

    @Override
    public void await(long timeoutNs) {
      synchronized (LoopbackTransport.this) {
        if (done.isEmpty() && !woken) {
          try {
            LoopbackTransport.this.wait(Math.max(1, Math.min(1000, timeoutNs / 1_000_000)));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
        woken = false;
      }
    }

    @Override
    public void wakeup() {
      synchronized (LoopbackTransport.this) {
        woken = true;
        LoopbackTransport.this.notifyAll();
      }
    }

    @Override
    public boolean onEvent(Runnable callback) {
      if (events == null) {
        return false;
      }
      synchronized (LoopbackTransport.this) {
        this.callback = callback;
      }
      return true;
    }

    @Override
    public void close() {
      synchronized (LoopbackTransport.this) {
        closed = true;
        callback = null;
      }
    }
  }

  private record Send(long id, byte[] bytes, long address, int rkey, int immediate, int flags) {}

  private final class Pair extends AbstractQueuePair {
    private final QueuePairConfig config;
    private final ConnectionAcceptor acceptor;
    private final ArrayDeque<Send> staged = new ArrayDeque<>();
    private final ArrayDeque<Long> receives = new ArrayDeque<>();
    private Pair peer;
    private State state = State.CONNECTED;
    private boolean held;

    Pair(QueuePairConfig config, byte[] privateData, ConnectionAcceptor acceptor) {
      super(++lastPair);
      this.config = config;
      this.acceptor = acceptor;
      setRemote(acceptor == null ? "test server" : "test client", privateData);
    }

    @Override
    public State state() {
      synchronized (LoopbackTransport.this) {
        return state;
      }
    }

    @Override
    protected void stage(WorkRequest request) {
      Invariant.check(request.opcode() == Opcode.WRITE_WITH_IMMEDIATE, "calls use nothing else");
      ScatterGather local = request.local();
      ByteBuffer gathered = ByteBuffer.allocate(local.totalLength());
      for (int i = 0; i < local.count(); i++) {
        gathered.put(local.region(i).buffer().slice(local.offset(i), local.length(i)));
      }
      synchronized (LoopbackTransport.this) {
        staged.add(
            new Send(
                request.id(),
                gathered.array(),
                request.remoteAddress(),
                request.rkey(),
                request.immediate(),
                request.flags()));
      }
    }

    @Override
    public void ring() {
      boolean failed = false;
      synchronized (LoopbackTransport.this) {
        while (!held && !staged.isEmpty()) {
          Send send = staged.remove();
          failed |= !place(send);
        }
      }
      if (failed) {
        end("the peer refused", true);
      }
    }

    private boolean place(Send send) {
      if (state != State.CONNECTED) {
        complete(send.id, CompletionStatus.FLUSHED);
        return true;
      }
      Region target = regions.get(send.rkey);
      long offset = target == null ? -1 : send.address - target.address();
      if (target == null
          || target.domain != peer.config.domain()
          || target.access() == Access.LOCAL
          || offset < 0
          || offset + send.bytes.length > target.length()) {
        complete(send.id, CompletionStatus.REMOTE_ACCESS_ERROR);
        return false;
      }
      if (peer.receives.isEmpty()) {
        complete(send.id, CompletionStatus.RECEIVER_NOT_READY);
        return false;
      }
      target.buffer().put((int) offset, send.bytes);
      if ((send.flags & SIGNALED) != 0) {
        complete(send.id, CompletionStatus.SUCCESS);
      }
      ((Queue) peer.config.receiveQueue())
          .add(
              new Done(
                  peer,
                  peer.receives.remove(),
                  Opcode.RECEIVE_IMMEDIATE,
                  CompletionStatus.SUCCESS,
                  send.bytes.length,
                  send.immediate));
      return true;
    }

    private void complete(long id, CompletionStatus status) {
      ((Queue) config.sendQueue())
          .add(new Done(this, id, Opcode.WRITE_WITH_IMMEDIATE, status, 0, 0));
    }

    @Override
    public int sendSlotsFree() {
      synchronized (LoopbackTransport.this) {
        return config.maxSends() - staged.size();
      }
    }

    @Override
    public void postReceive(long workRequestId) {
      synchronized (LoopbackTransport.this) {
        if (state == State.CONNECTED) {
          receives.add(workRequestId);
        } else {
          flush(workRequestId);
        }
      }
    }

    private void flush(long id) {
      ((Queue) config.receiveQueue())
          .add(new Done(this, id, Opcode.RECEIVE_IMMEDIATE, CompletionStatus.FLUSHED, 0, 0));
    }

    @Override
    public ByteBuffer map(long remoteAddress, int length, int rkey) {
      return null;
    }

    @Override
    public boolean revoke() {
      end("revoked", false);
      return true;
    }

    @Override
    public void close() {
      synchronized (LoopbackTransport.this) {
        pairs.remove(this);
      }
      end("closed", false);
    }

    /** Both sides go into ERROR; the accepting one is told unless it asked for it. */
    private void end(String why, boolean tellMine) {
      if (fail(why) && tellMine && acceptor != null) {
        acceptor.onDisconnected(this);
      }
      if (peer.fail("the peer is gone: " + why) && peer.acceptor != null) {
        peer.acceptor.onDisconnected(peer);
      }
    }

    private boolean fail(String why) {
      synchronized (LoopbackTransport.this) {
        if (state != State.CONNECTED) {
          return false;
        }
        setError(why);
        state = State.ERROR;
        while (!receives.isEmpty()) {
          flush(receives.remove());
        }
        return true;
      }
    }
  }
}
