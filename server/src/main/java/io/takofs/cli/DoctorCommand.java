package io.takofs.cli;

import com.google.gson.JsonObject;
import io.takofs.base.TakoException;
import io.takofs.client.ServerUri;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
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

  @Option(names = "--json", description = "For programs.")
  private boolean json;

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description = "tako://host:port; also connects there, and fails when that is impossible.")
  private String uri;

  @Override
  public Integer call() throws IOException {
    URI server = uri == null ? null : ServerUri.parse(uri);
    Diagnosis diagnosis = new Diagnosis();
    new HostChecks(diagnosis).run();
    new VerbsChecks(diagnosis).run();
    boolean asked = server == null || reaches(server, diagnosis);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(diagnosis.json());
    } else {
      diagnosis.print(out);
    }
    out.flush();
    return asked ? 0 : spec.exitCodeOnExecutionException();
  }

  private static boolean reaches(URI server, Diagnosis diagnosis) {
    JsonObject section = diagnosis.section("server");
    section.addProperty("uri", server.toString());
    try {
      section.addProperty("transport", Transport.verdict(server));
      return true;
    } catch (TakoException e) {
      section.addProperty("transport", "none");
      diagnosis.problem(
          e.getMessage() + " (" + e.status().name() + ")",
          "see that a Tako server runs there (tako server), that host and port are right, and that"
              + " no firewall is between");
      return false;
    }
  }
}
