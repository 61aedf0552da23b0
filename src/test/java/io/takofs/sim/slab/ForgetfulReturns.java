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
    Request.Builder sent = request.toBuilder();
    if (request.hasReturnSlabs()) {
      sent.getReturnSlabsBuilder()
          .getSlabsBuilderList()
          .forEach(ReturnedSlab.Builder::clearGrantees);
    }
    real.call(serverId, sent.build(), answer);
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
