package io.takofs.transport;

import io.takofs.base.FreePorts;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Random;

class TcpTransportConformanceTest extends TransportConformanceTest {
  @Override
  protected TransportWorld newWorld() {
    Transport server = new TcpTransport(TcpSettings.DEFAULT);
    Transport client = new TcpTransport(TcpSettings.DEFAULT);
    return new TransportWorld() {
      @Override
      public Transport server() {
        return server;
      }

      @Override
      public Transport client() {
        return client;
      }

      @Override
      public boolean mapsMemory() {
        return false;
      }

      @Override
      public boolean hasCallbacks() {
        return true;
      }

      @Override
      public String listenEndpoint() {
        return "127.0.0.1:0";
      }

      @Override
      public String unreachableEndpoint() {
        try {
          return "127.0.0.1:" + new FreePorts(new Random()).onLoopback(1).get(0);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }
}
