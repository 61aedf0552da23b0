package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.TestCluster;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTransports;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.transport.Access;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LogDoorTest {
  private static final int SELF = 2;
  private static final int CALLER = 1;

  @TempDir Path directory;

  private final TestCluster cluster = new ProvingCluster(SELF);

  private static final class ProvingCluster extends TestCluster {
    ProvingCluster(int self) {
      super(self, "secret");
    }

    @Override
    public long logProof(long term, long grant, int caller, int called) {
      return term + 31 * grant + 1009L * caller + 100_003L * called;
    }
  }

  private final AtomicInteger severed = new AtomicInteger();

  private ConnectionInfo hello(long grant, long proofOfGrant) {
    long proof = new ProvingCluster(CALLER).logProof(0, proofOfGrant, CALLER, SELF);
    return ConnectionInfo.ours(Layout.CONNECTION_LOG, 0, grant, proof, CALLER);
  }

  @Test
  void shouldLetServersReadThePageZoneAndNothingElse() throws Exception {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        MappedMemory log = MappedMemory.create(directory.resolve("log"), 8L * Layout.SEGMENT_SIZE);
        MappedMemory pages = MappedMemory.create(directory.resolve("pages"), 1 << 20);
        Undo undo = new Undo()) {
      LogTransports transports = new LogTransports();
      transports.add(LogExport.register(log, transport, undo));
      PageExports exports = new PageExports();
      LogReplica replica =
          LogReplica.open(
              SELF,
              LogZone.of(log, 0, log.length()),
              transports,
              new LogIdentity(1, 1),
              0,
              () -> true);
      LogDoor door = new LogDoor(cluster, replica, transports, exports, severed::incrementAndGet);
      ConnectionInfo reader = hello(Layout.LOG_SNAPSHOT, Layout.LOG_SNAPSHOT);
      assertThatThrownBy(() -> door.admitLogConnection(transport, reader))
          .hasMessageContaining("not read over 'tcp'");

      PageExport export = PageExport.register(pages, transport, undo);
      exports.add(export);
      assertThat(export.regions()).hasSize(1);
      assertThat(export.regions().get(0).length()).isEqualTo(1 << 20);
      assertThat(export.regions().get(0).access()).isEqualTo(Access.REMOTE_READ);
      assertThat(exports.regions("tcp")).isEqualTo(export.regions());
      assertThat(door.admitLogConnection(transport, reader))
          .isSameAs(export.domain())
          .isNotSameAs(transports.find("tcp").domain());

      assertThatThrownBy(() -> door.admitLogConnection(transport, hello(Layout.LOG_SNAPSHOT, 0)))
          .hasMessageContaining("cannot prove");
      assertThatThrownBy(() -> door.admitLogConnection(transport, hello(7, 7)))
          .hasMessageContaining("grant 7");
      exports.remove(export);
      assertThat(exports.regions("tcp")).isEmpty();
      assertThat(severed.get()).isZero();
    }
  }
}
