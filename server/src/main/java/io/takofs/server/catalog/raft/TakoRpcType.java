package io.takofs.server.catalog.raft;

import java.util.function.Function;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** The kind of messages that Ratis makes an instance of by the name of the class. */
public final class TakoRpcType implements RpcType {
  private static final String MESSAGES = "messages";

  /** Makes the messages of a server. */
  interface Messages extends Function<RaftServer, RaftServerRpc> {}

  /** The parameters by which a server gets {@code messages}. */
  static Parameters parameters(Messages messages) {
    Parameters parameters = new Parameters();
    parameters.put(MESSAGES, messages, Messages.class);
    return parameters;
  }

  /** Ratis reads the class's name from its configuration. */
  @Override
  public String name() {
    return TakoRpcType.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    Messages messages = parameters.get(MESSAGES, Messages.class);
    return new Factory(this, messages);
  }

  private record Factory(TakoRpcType type, Messages messages) implements ServerFactory {
    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      return messages.apply(server);
    }

    @Override
    public RpcType getRpcType() {
      return type;
    }
  }
}
