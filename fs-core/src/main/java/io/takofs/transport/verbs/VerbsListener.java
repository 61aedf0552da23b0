package io.takofs.transport.verbs;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A place where connection requests arrive.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsListener implements AutoCloseable {
  /** Requests that wait for the event thread; the kernel refuses more. */
  private static final int BACKLOG = 1024;

  private final ConnectionManager manager;
  private final VerbsResources resources;
  private final ConnectionEvents events;
  private final RdmaCmId id;
  private final InetSocketAddress address;

  VerbsListener(
      ConnectionManager manager,
      VerbsResources resources,
      InetSocketAddress address,
      ConnectionEvents events)
      throws IOException {
    this.manager = manager;
    this.resources = resources;
    this.events = events;
    id = manager.createId(this::onEvent);
    try (Undo undo = new Undo()) {
      undo.add(() -> manager.destroy(id));
      id.bindAddr(address);
      id.listen(BACKLOG);
      this.address = (InetSocketAddress) id.getSource();
      undo.keep();
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "cannot listen for RDMA connections at "
              + VerbsControl.name(address)
              + ": "
              + e.getMessage(),
          e);
    }
    resources.add(VerbsResources.Kind.LISTENER, this);
  }

  private void onEvent(ConnectionManager.Event event) {
    if (event.type() == RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST) {
      try (Undo undo = new Undo()) {
        VerbsConnection connection =
            undo.add(VerbsConnection.requested(manager, resources, event.id(), events));
        events.onRequest(connection, event.data());
        undo.keep(); // one that is not kept is closed, which refuses it
      }
    }
  }

  /** The address it listens at, with the assigned port. */
  InetSocketAddress address() {
    return address;
  }

  /** No request arrives once this returned; connections that it brought live on. */
  @Override
  public void close() {
    if (resources.remove(VerbsResources.Kind.LISTENER, this)) {
      manager.destroy(id);
    }
  }
}
