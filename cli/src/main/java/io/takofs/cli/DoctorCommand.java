package io.takofs.cli;

import com.google.gson.JsonObject;
import io.takofs.base.TakoException;
import io.takofs.cli.doctor.ClusterChecks;
import io.takofs.cli.doctor.Diagnosis;
import io.takofs.cli.doctor.HostChecks;
import io.takofs.cli.doctor.VerbsChecks;
import io.takofs.client.TakoClient;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.ClusterStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako doctor}. */
@Command(
    name = "doctor",
    description =
        "Says which transports this host and this user can use, what stands in the way of the"
            + " others and what to do about it.")
final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Prints JSON, for programs.")
  private boolean json;

  @Parameters(
      arity = "0..*",
      paramLabel = "URI",
      description =
          "tako://host:port, or tako://NAME of a cluster (default: TAKO_URI); also connects there,"
              + " and fails when that is impossible.")
  private List<String> uris = List.of();

  @Override
  public Integer call() throws IOException {
    List<URI> servers = new ArrayList<>();
    for (String uri : uris) {
      servers.add(Installation.uri(uri));
    }
    if (servers.isEmpty()) {
      DevDirectory.ofEnvironment().ifPresent(servers::add);
    }
    Diagnosis diagnosis = new Diagnosis();
    new HostChecks(diagnosis, pool()).run();
    new VerbsChecks(diagnosis).run();
    boolean asked = true;
    for (URI server : servers) {
      asked &= reaches(server, diagnosis, servers.size() == 1 ? "server" : "server " + server);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(diagnosis.json());
    } else {
      diagnosis.print(out);
    }
    out.flush();
    return asked ? 0 : spec.exitCodeOnExecutionException();
  }

  /** Whether the server listens on the loopback, where no RDMA device is. */
  private static boolean isLocal(URI server) {
    try {
      // The name of a cluster is no host.
      return server.getPort() >= 0 && InetAddress.getByName(server.getHost()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false; // the check below reports that the server cannot be reached
    }
  }

  private static Path pool() throws IOException {
    return Path.of(Installation.configuration().get(ConfigKeys.POOL_PATH));
  }

  private static boolean reaches(URI server, Diagnosis diagnosis, String name) {
    JsonObject section = diagnosis.section(name);
    section.addProperty("uri", server.toString());
    try (TakoClient client =
        TakoClient.connect(server, Installation.configuration(), System.getProperty("user.name"))) {
      return reaches(client, diagnosis, section);
    } catch (IOException e) {
      section.addProperty("transport", "none");
      diagnosis.problem(
          e.getMessage()
              + (e instanceof TakoException tako ? " (" + tako.status().name() + ")" : ""),
          "see that a Tako server runs there (tako server), that host and port are right, and that"
              + " no firewall is between");
      return false;
    }
  }

  private static boolean reaches(TakoClient client, Diagnosis diagnosis, JsonObject section)
      throws IOException {
    ClusterChecks checks = new ClusterChecks(diagnosis);
    ClusterStatus cluster;
    try {
      section.addProperty("transport", client.transportVerdict());
      cluster = client.administration().clusterStatus();
    } catch (TakoException e) {
      NamespaceOutage outage = NamespaceOutage.after(e, client);
      section.addProperty("transport", "none");
      section.addProperty("known_to", outage.source());
      diagnosis.problem(
          outage.problem(),
          "see that it runs (tako server), what its log says, and that no firewall is between; calls"
              + " wait for it");
      checks.run(outage.cluster(), section);
      return false;
    }
    if (isLocal(client.uri())) {
      section.addProperty(
          "verbs",
          "not offered: it listens on the loopback (fs.tako.server.host), as tako dev does");
    }
    checks.run(cluster, section);
    return true;
  }
}
