package io.takofs.sim.slab;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.ServerEntry;
import io.takofs.server.peer.DataServers;
import java.util.List;
import java.util.function.Consumer;

/** A weakened leader: it does not say who may still write to the slabs that it returns. */
record ForgetfulReturns(DataServers real) implements DataServers {
  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    real.call(serverId, forget(request), answer);
  }

  /** The request without those that it names, if it returns slabs. */
  static Request forget(Request request) {
    Request.Builder sent = request.toBuilder();
    if (request.hasReturnSlabs()) {
      sent.getReturnSlabsBuilder()
          .getSlabsBuilderList()
          .forEach(ReturnedSlab.Builder::clearGrantees);
    }
    return sent.build();
  }

  @Override
  public List<ServerEntry> servers() {
    return real.servers();
  }

  @Override
  public void deliver() {
    real.deliver();
  }
}
