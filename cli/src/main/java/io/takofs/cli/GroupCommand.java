package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.report.Counts;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako group}: the servers that keep the namespace. */
@Command(
    name = "group",
    description = "Shows and changes which servers keep the namespace, and which of them leads.")
final class GroupCommand implements Runnable {
  /** Time that a command waits for what it has begun. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "status, move-leader or replace?");
  }

  @Command(description = "Prints the members of the group, and how far each of them is.")
  int status(@Mixin ServerOptions location) throws Exception {
    try (TakoClient client = location.client(location.server(null))) {
      ClusterStatus cluster;
      try {
        cluster = client.administration().clusterStatus();
      } catch (TakoException e) {
        print(lines(NamespaceOutage.after(e, client)));
        return spec.exitCodeOnExecutionException();
      }
      print(lines(cluster));
    }
    return 0;
  }

  @Command(name = "move-leader", description = "Has another member lead (superusers alone).")
  int moveLeader(
      @Mixin ServerOptions location,
      @Parameters(
              arity = "0..1",
              paramLabel = "SERVER",
              defaultValue = "0",
              description = "Its number, or HOST:PORT; any other member unless it is named.")
          String name)
      throws Exception {
    try (TakoClient client = location.client(location.server(null))) {
      ClusterStatus before = client.administration().clusterStatus();
      int former = before.getLeader();
      int server = number(before, name);
      client.administration().moveLeader(server);
      ClusterStatus now =
          await(
              client,
              status -> server == 0 ? moved(status, former) : status.getLeader() == server,
              status -> "the leader did not move; tako group status shows the members");
      print(List.of("server " + now.getLeader() + " leads"));
    }
    return 0;
  }

  /** Returns the number of the server that is named by its number, or by its address. */
  static int number(ClusterStatus cluster, String name) throws TakoException {
    return ClusterCommand.number(
        cluster.getServersList().stream().map(ServerHealth::getEntry).toList(), name);
  }

  private static boolean moved(ClusterStatus status, int former) {
    return status.getLeader() != 0 && status.getLeader() != former;
  }

  @Command(
      description =
          "Has a server become a member instead of another one, when it has learned what they have"
              + " (superusers alone).")
  int replace(
      @Mixin ServerOptions location,
      @Parameters(
              index = "0",
              paramLabel = "LEAVES",
              description = "The member: its number, or HOST:PORT.")
          String leaving,
      @Parameters(
              index = "1",
              paramLabel = "COMES",
              description = "The other server: its number, or HOST:PORT.")
          String coming)
      throws Exception {
    try (TakoClient client = location.client(location.server(null))) {
      ClusterStatus before = client.administration().clusterStatus();
      int leaves = number(before, leaving);
      int comes = number(before, coming);
      client.administration().replaceMember(leaves, comes);
      ClusterStatus now =
          await(
              client,
              status -> isReplaced(status.getGroup(), leaves, comes),
              status -> unfinished(status.getGroup(), comes));
      print(lines(now));
    }
    return 0;
  }

  private static boolean isReplaced(GroupStatus group, int leaves, int comes) {
    return group.getActive()
        && group.getMembersList().stream().noneMatch(each -> each.getServer() == leaves)
        && group.getMembersList().stream()
            .anyMatch(each -> each.getServer() == comes && !each.getLearner() && each.getReached());
  }

  /** Why a server has not become a member in time. */
  static String unfinished(GroupStatus group, int comes) {
    Optional<MemberStatus> known =
        group.getMembersList().stream().filter(each -> each.getServer() == comes).findAny();
    if (known.isPresent() && !known.get().getLearner()) {
      return "server %d is a member, but %s; tako group status shows when it has the log"
          .formatted(comes, group.getActive() ? "is not reached" : "the change is not complete");
    }
    return known.isPresent()
        ? "server " + comes + " is still learning; tako group status shows how far it is"
        : ("server %d is not learning: server %d leads now, and was not asked, or replaces another"
                + " member first; when tako group status shows no learner, give the command again")
            .formatted(comes, group.getLeader());
  }

  private static ClusterStatus await(
      TakoClient client, Predicate<ClusterStatus> done, Function<ClusterStatus, String> otherwise)
      throws TakoException {
    long until = Clock.SYSTEM.nanoTime() + LIMIT_NS;
    while (true) {
      ClusterStatus status = client.administration().clusterStatus();
      if (done.test(status)) {
        return status;
      }
      if (Clock.SYSTEM.nanoTime() - until >= 0) {
        throw new TakoException(Status.UNAVAILABLE, otherwise.apply(status));
      }
      Clock.SYSTEM.parkNanos(client, LOOK_NS);
    }
  }

  private void print(List<String> lines) {
    PrintWriter out = spec.commandLine().getOut();
    lines.forEach(out::println);
    out.flush();
  }

  /** Lines with the knowledge of another server, while none that leads answers. */
  private static List<String> lines(NamespaceOutage outage) {
    List<String> lines = new ArrayList<>();
    lines.add("group    " + outage.problem());
    lines.add("known to " + outage.source());
    lines.addAll(ClusterText.lines(outage.cluster()).lines().toList());
    return lines;
  }

  /** Lines for people. */
  static List<String> lines(ClusterStatus cluster) {
    GroupStatus group = cluster.getGroup();
    if (group.getMembersCount() == 0) {
      return List.of("the namespace is on one server alone");
    }
    List<String> lines = new ArrayList<>();
    lines.add(
        "group    %d, led by server %d in term %d, configuration %d%s"
            .formatted(
                group.getId(),
                group.getLeader(),
                group.getTerm(),
                group.getConfigEpoch(),
                group.getActive() ? "" : " (being changed)"));
    lines.add(
        "log      %d entries, %d of them not committed yet"
            .formatted(group.getLastIndex(), group.getLastIndex() - group.getCommitIndex()));
    for (MemberStatus each : group.getMembersList()) {
      lines.add(line(cluster, each));
    }
    for (ServerHealth each : cluster.getServersList()) {
      ServerEntry server = each.getEntry();
      if (!server.getDamage().isEmpty()) { // one that has left the group, too
        lines.add(
            "damaged  "
                + server.getId()
                + " "
                + ClusterMaps.address(server)
                + " "
                + server.getDamage());
      }
    }
    return lines;
  }

  private static String address(ClusterStatus cluster, int server) {
    return cluster.getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(entry -> entry.getId() == server)
        .map(entry -> " " + ClusterMaps.address(entry))
        .findAny()
        .orElse("");
  }

  /** A member may have an entry that was written after the last index was read. */
  private static String lack(long entries) {
    return entries <= 0 ? "has all entries" : "lacks " + Counts.text(entries, "entry", "entries");
  }

  private static String line(ClusterStatus cluster, MemberStatus member) {
    GroupStatus group = cluster.getGroup();
    String state;
    if (member.getServer() == group.getLeader()) {
      state = "leads";
    } else if (member.getReached()) {
      state = lack(group.getLastIndex() - member.getWrittenIndex());
    } else {
      state = "is not reached" + (member.getProblem().isEmpty() ? "" : ": " + member.getProblem());
    }
    return "%s  %d%s %s"
        .formatted(
            member.getLearner() ? "learner" : "member ",
            member.getServer(),
            address(cluster, member.getServer()),
            state);
  }
}
