package io.takofs.transport.verbs;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatObject;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeControl;
import io.takofs.jni.NativeError;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event channel of the connection manager and the one thread that reads it.
 *
 * <p>An identifier is found, and an event taken from the channel, under this object's monitor, and
 * identifiers are destroyed under it: so no event is ever taken for one that no longer exists, nor
 * for a younger one at the same address. Handlers run without it.
 *
 * <p>Thread rule: any thread; handlers run on the event thread.
 */
final class ConnectionManager implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionManager.class);

  /** After an event that could not be taken: for as long as this the channel is left alone. */
  private static final long BACKOFF_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** In the order of the C enumeration, as the natives are checked to have it. */
  private static final List<RdmaCmEvent.EventType> TYPES = List.of(RdmaCmEvent.EventType.values());

  private static final int UNTIL_WOKEN = -1;

  private final RdmaEventChannel channel;
  private final int wakeup;
  private final Thread thread;
  private final IdentityHashMap<RdmaCmId, Target> targets = new IdentityHashMap<>();
  private volatile boolean stopped;
  private boolean ended; // guarded by this

  /** Handler of an identifier's events; for a listener's identifier, the handler of requests. */
  interface Target {
    void onEvent(Event event);
  }

  /**
   * An event.
   *
   * @param type what happened
   * @param id the identifier it happened to; the new one of a request
   * @param status negated errno, or a reason in the words of the InfiniBand connection manager
   * @param data private data of the peer
   */
  record Event(RdmaCmEvent.EventType type, RdmaCmId id, int status, byte[] data) {}

  ConnectionManager() throws IOException {
    try (Undo undo = new Undo()) {
      channel = createChannel();
      undo.add(this::destroyChannel);
      wakeup = NativeError.check(NativeControl.createWakeup(), "an event file descriptor");
      undo.add(() -> NativeControl.closeWakeup(wakeup));
      thread = new Thread(this::run, "tako-verbs-events");
      thread.setDaemon(true);
      thread.start();
      undo.keep();
    }
  }

  private static RdmaEventChannel createChannel() throws TakoException {
    try {
      return RdmaEventChannel.createEventChannel();
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the RDMA connection manager cannot be used: "
              + e.getMessage()
              + "; the kernel module rdma_ucm must be loaded and /dev/infiniband/rdma_cm be"
              + " readable and writable",
          e);
    }
  }

  static long pointer(RdmaCmId id) {
    return ((NatObject) id).getObjId();
  }

  synchronized RdmaCmId createId(Target target) throws IOException {
    if (ended) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the RDMA connection manager has no more events, its device was removed: start this"
              + " process again when the device is back");
    }
    RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
    targets.put(id, target);
    return id;
  }

  /** Gives an identifier that came with a request the one who hears of its further events. */
  synchronized void setTarget(RdmaCmId id, Target target) {
    targets.put(id, target);
  }

  /** Destroys an identifier and its queue pair, if it has one. No event of it is taken any more. */
  synchronized void destroy(RdmaCmId id) {
    targets.remove(id);
    try {
      if (id.getQp() != null && id.getQp().isOpen()) {
        VerbsResources.checkDestroyed(id.destroyQP(), "a queue pair");
      }
      VerbsResources.checkDestroyed(id.destroyId(), "a connection's identifier");
    } catch (IOException e) {
      throw new IllegalStateException("a connection's identifier could not be destroyed", e);
    }
  }

  private void run() {
    long pointer = ((NatObject) channel).getObjId();
    takeEvents(
        () -> {
          int ready = awaitEvent(pointer); // which close wakes up
          return stopped ? NativeControl.EVENTS_ENDED : ready;
        },
        this::dispatch);
    if (!stopped) {
      LOG.error("the RDMA connection manager has no more events: all its connections end");
      tellEnd();
    }
  }

  private int awaitEvent(long pointer) {
    return NativeControl.awaitEvent(pointer, wakeup, UNTIL_WOKEN);
  }

  /** Takes events until there will be none any more. */
  static void takeEvents(IntSupplier await, Runnable dispatch) {
    int ready;
    while ((ready = await.getAsInt()) != NativeControl.EVENTS_ENDED) {
      if (ready == NativeControl.EVENT) {
        dispatch.run();
      } else if (ready < 0) {
        LockSupport.parkNanos(BACKOFF_NS); // it fails at once, and would the next time
      }
    }
  }

  /** Without events nobody would learn of the end of a connection: all end now. */
  private void tellEnd() {
    IdentityHashMap<RdmaCmId, Target> left;
    synchronized (this) {
      ended = true;
      left = new IdentityHashMap<>(targets);
    }
    left.forEach(ConnectionManager::tellEnd);
  }

  /** Tells a target that its identifier's device is gone; the others are told if it fails. */
  static void tellEnd(RdmaCmId id, Target target) {
    try {
      target.onEvent(
          new Event(RdmaCmEvent.EventType.RDMA_CM_EVENT_DEVICE_REMOVAL, id, 0, new byte[0]));
    } catch (RuntimeException | Error e) {
      LOG.error("the end of an RDMA connection could not be handled", e);
    }
  }

  private void dispatch() {
    Event event = null;
    Target target = null;
    try {
      synchronized (this) {
        RdmaCmEvent taken = channel.getCmEvent(0);
        if (taken != null && taken.getConnIdPriv() != null) {
          event = describe(taken);
          boolean request = event.type() == RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST;
          target = targets.get(request ? taken.getListenIdPriv() : event.id());
          if (request && target == null) {
            destroy(event.id());
          }
        }
      }
      if (event == null) {
        LockSupport.parkNanos(BACKOFF_NS);
      } else if (target != null) {
        target.onEvent(event);
      }
    } catch (IOException | RuntimeException | Error e) {
      // One connection's bug, or what it finds no memory for, must not end the others.
      LockSupport.parkNanos(BACKOFF_NS);
      LOG.error("an event of the RDMA connection manager could not be handled", e);
    }
  }

  private static Event describe(RdmaCmEvent taken) throws IOException {
    try (NativeBlock block = new NativeBlock(Layout.VERBS_EVENT_SIZE)) {
      RdmaCmId id = taken.getConnIdPriv();
      NativeError.check(
          NativeControl.event(pointer(id), block.address()), "the details of an event");
      byte[] data = new byte[block.bytes().getInt(Layout.VERBS_EVENT_LENGTH_OFFSET)];
      block.bytes().get(Layout.VERBS_EVENT_DATA_OFFSET, data);
      return new Event(
          TYPES.get(taken.getEvent()),
          id,
          block.bytes().getInt(Layout.VERBS_EVENT_STATUS_OFFSET),
          data);
    }
  }

  /** Ends the thread. Needs every identifier destroyed. */
  @Override
  public void close() {
    synchronized (this) {
      if (stopped) {
        return;
      }
      stopped = true;
    }
    NativeControl.wakeup(wakeup);
    if (Thread.currentThread() != thread) {
      Interrupts.join(thread);
    }
    NativeControl.closeWakeup(wakeup);
    destroyChannel();
  }

  private void destroyChannel() {
    try {
      VerbsResources.checkDestroyed(channel.destroyEventChannel(), "the event channel");
    } catch (IOException e) {
      throw new IllegalStateException("the event channel could not be destroyed", e);
    }
  }
}
