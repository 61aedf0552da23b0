package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.hadoop.TestServer;
import io.takofs.proto.ConnectionStatus;
import java.io.IOException;
import java.net.URI;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;

/** The server's knowledge of Hadoop's clients, which {@code tako status} prints. */
class StatusTest {
  private static final Path FILE = new Path("/status/file");
  private static final String USER = "watched";

  private final Configuration conf = new Configuration();

  @Test
  void shouldNameTheTransportOfEachClient() throws Exception {
    TestServer.configure(conf);
    try (FileSystem mine = FileSystem.newInstance(conf)) {
      mine.mkdirs(FILE.getParent());
      mine.setOwner(FILE.getParent(), USER, null);
    }
    UserGroupInformation.createUserForTesting(USER, new String[0])
        .doAs((PrivilegedExceptionAction<Void>) this::connectTwice);
  }

  /** Once through each of Hadoop's interfaces, with file data, which has a connection beside. */
  private Void connectTwice() throws IOException {
    try (FileSystem fs = FileSystem.newInstance(conf)) {
      try (FSDataOutputStream out = fs.create(FILE)) {
        out.write(new byte[100_000]);
      }
      assertThat(FileContext.getFileContext(conf).getFileStatus(FILE).getLen()).isEqualTo(100_000);
      assertThat(connections())
          .filteredOn(connection -> connection.getUser().equals(USER))
          .extracting(ConnectionStatus::getTransport)
          .containsExactly(TestServer.transport(), TestServer.transport());
    }
    return null;
  }

  private List<ConnectionStatus> connections() throws IOException {
    TakoConfig config = new TakoConfig().addSystemProperties();
    try (TakoClient client =
        TakoClient.connect(URI.create(conf.get("fs.defaultFS")), config, "observer")) {
      return client.serverStatus().getConnectionsList();
    }
  }
}
