package io.takofs.cli;

import io.takofs.client.Quotas;
import io.takofs.client.TakoClient;
import io.takofs.config.Units;
import io.takofs.proto.QuotaStatus;
import io.takofs.server.report.Sizes;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako quota}. */
@Command(name = "quota", description = "Shows the quota of a directory; superusers can set it.")
final class QuotaCommand implements Callable<Integer> {
  private static final String NONE = "none";

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(
      names = "--names",
      paramLabel = "NUMBER",
      description = "Files and directories it may have, its own included; or none.")
  private String names;

  @Option(
      names = "--space",
      paramLabel = "SIZE",
      description = "Space its files may take, times their replication, like 10g; or none.")
  private String space;

  @Parameters(paramLabel = "PATH", description = "Directory: /a/b or tako://host:port/a/b")
  private String text;

  @Override
  public Integer call() throws Exception {
    Long most = names == null ? null : number(names);
    Long bytes = space == null ? null : size(space);
    String path = ServerOptions.path(text);
    try (TakoClient client = location.client(location.server(text))) {
      if (most != null && bytes != null) {
        client.quotas().set(path, most, bytes);
      } else if (most != null) {
        client.quotas().setNames(path, most);
      } else if (bytes != null) {
        client.quotas().setSpace(path, bytes);
      }
      print(path, client.quotas().get(path));
    }
    return 0;
  }

  private long number(String value) {
    try {
      return value.equals(NONE) ? Quotas.NONE : Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw misused("--names " + value + ": write a number, or none");
    }
  }

  private long size(String value) {
    try {
      return value.equals(NONE) ? Quotas.NONE : Units.parseSize(value);
    } catch (IllegalArgumentException e) {
      throw misused("--space " + value + ": " + e.getMessage());
    }
  }

  private ParameterException misused(String why) {
    return new ParameterException(spec.commandLine(), why);
  }

  private void print(String path, QuotaStatus quota) {
    PrintWriter out = spec.commandLine().getOut();
    if (!quota.hasNamesUsed()) {
      out.println(path + " has no quota");
    } else {
      String mostNames = quota.hasNames() ? "of " + quota.getNames() : "without a limit";
      String mostSpace =
          quota.hasSpace() ? "of " + Sizes.human(quota.getSpace()) : "without a limit";
      out.println("names  " + quota.getNamesUsed() + " " + mostNames);
      out.println("space  " + Sizes.human(quota.getSpaceUsed()) + " " + mostSpace);
    }
    out.flush();
  }
}
