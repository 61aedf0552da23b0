package io.takofs.cli;

import io.takofs.client.TakoClient;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako safemode}. */
@Command(
    name = "safemode",
    description = "Turns safe mode, in which nothing can be changed, on or off, or shows it.")
final class SafeModeCommand implements Callable<Integer> {
  private static final long PAUSE_MS = 500;

  /** The action. */
  enum Action {
    GET,
    ENTER,
    LEAVE,
    WAIT
  }

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Parameters(
      paramLabel = "ACTION",
      description = "get, enter or leave (superusers alone), or wait until safe mode is off.")
  private Action action;

  @Override
  public Integer call() throws Exception {
    try (TakoClient client = location.client(location.server(null))) {
      if (action == Action.ENTER || action == Action.LEAVE) {
        client.administration().setSafeMode(action == Action.ENTER);
      }
      boolean on = client.administration().isInSafeMode();
      while (on && action == Action.WAIT) {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        on = client.administration().isInSafeMode();
      }
      spec.commandLine().getOut().println("safe mode is " + (on ? "on" : "off"));
      spec.commandLine().getOut().flush();
      return 0;
    }
  }
}
