package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.log.LogReplica;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Lets leaders in that the replica admits. */
record SimLogDoor(QueuePairConfig pairs, LogReplica replica, BrokenParts parts)
    implements ConnectionAcceptor {
  /** What a leader says when it connects. */
  static byte[] asked(long term, long grant) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(term)
        .putLong(grant)
        .array();
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
    ByteBuffer asked = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
    if (!replica.admits(asked.getLong(0), asked.getLong(Long.BYTES))) {
      throw new TakoException(Status.STALE_TERM, "the grant has ended");
    }
    return new Accept(pairs, privateData);
  }

  @Override
  public void onConnected(QueuePair pair, Accept accept) {
    ByteBuffer asked = ByteBuffer.wrap(accept.privateData()).order(ByteOrder.LITTLE_ENDIAN);
    replica.connected(asked.getLong(0), asked.getLong(Long.BYTES), parts.incoming(pair));
  }

  @Override
  public void onDisconnected(QueuePair pair) {
    replica.disconnected(parts.known(pair));
  }
}
