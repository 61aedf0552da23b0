package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.OpenedWindows;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.rpc.IncomingCall;
import io.takofs.server.extent.Location;
import io.takofs.server.peer.Cluster;
import io.takofs.server.zone.ReplyGate;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WriteWindows;
import java.util.ArrayList;
import java.util.List;

/**
 * Opens memory windows to clients whose session is at another server. The leader proves that a
 * grant lived; this server looks whether it was fenced here since.
 *
 * <p>Thread rule: any thread. No caller waits: the reply is sent by the thread that hears from the
 * device that the windows are open.
 */
final class WindowCalls {
  private final ServerDataZone zone;
  private final Cluster cluster;

  WindowCalls(ServerDataZone zone, Cluster cluster) {
    this.zone = zone;
    this.cluster = cluster;
  }

  /**
   * Answers {@code call}, an OpenWindows, when all windows that may be opened are open.
   *
   * @throws TakoException DISCONNECTED when the client has no connection that takes windows; then
   *     the call is not answered
   */
  void open(IncomingCall call, long clientId) throws TakoException {
    OpenWindows request = call.request().getOpenWindows();
    WriteWindows windows = zone.windows();
    if (!windows.isConnected(clientId)) {
      throw new TakoException(
          Status.DISCONNECTED,
          "the client has no connection to the data zone that takes windows; make one first");
    }
    for (OpenWindows.Window left : request.getLeftList()) {
      windows.leave(clientId, Location.of(extent(left)), left.getGrant());
    }
    Answer answer = new Answer(clientId, request.getFileId(), windows);
    ReplyGate gate = new ReplyGate();
    for (OpenWindows.Window window : request.getWindowsList()) {
      String refusal = begin(clientId, request.getFileId(), window, gate);
      answer.add(extent(window), refusal);
    }
    gate.then(() -> call.reply(answer.build(gate.failure())));
    windows.post();
    gate.release();
  }

  /** Begins to open {@code window}; returns why it is refused, or null. */
  private String begin(long clientId, long fileId, OpenWindows.Window window, ReplyGate gate) {
    String grant =
        "grant %s of client %s"
            .formatted(Long.toUnsignedString(window.getGrant()), Long.toHexString(clientId));
    if (!cluster.isGood(window, clientId)) {
      return "the proof of %s is not of this cluster and this place, or its key is too old"
          .formatted(grant);
    }
    try {
      return zone.open(clientId, fileId, extent(window), window.getLease(), gate)
          ? null
          : grant + " has ended here: it is fenced, or its slab was returned";
    } catch (TakoException e) {
      return e.getMessage();
    }
  }

  private static Extent extent(OpenWindows.Window window) {
    return Extent.newBuilder()
        .setArena(window.getArena())
        .setOffset(window.getOffset())
        .setCapacity(window.getCapacity())
        .setGrant(window.getGrant())
        .build();
  }

  /** The reply, with the keys that the device gave until it is built. */
  private static final class Answer {
    private final long clientId;
    private final long fileId;
    private final WriteWindows windows;
    private final List<Extent> extents = new ArrayList<>(); // null for those that are refused
    private String refusal;

    Answer(long clientId, long fileId, WriteWindows windows) {
      this.clientId = clientId;
      this.fileId = fileId;
      this.windows = windows;
    }

    void add(Extent extent, String why) {
      extents.add(why == null ? extent : null);
      refusal = refusal == null ? why : refusal;
    }

    /**
     * @param failure of the device; null for none
     */
    Reply build(String failure) {
      OpenedWindows.Builder opened = OpenedWindows.newBuilder();
      String why = refusal;
      for (Extent extent : extents) {
        OpenedWindows.Keys.Builder keys = opened.addWindowsBuilder();
        if (extent != null) {
          Extent withKeys = windows.withKeys(clientId, fileId, extent);
          keys.setRkey(withKeys.getRkey()).setChecksumsRkey(withKeys.getChecksumsRkey());
          if (withKeys.getRkey() == 0 && why == null) {
            why = failure == null ? "the connection ended, or the grant was fenced" : failure;
          }
        }
      }
      return Reply.newBuilder().setOpenedWindows(opened.setRefusal(why == null ? "" : why)).build();
    }
  }
}
