package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.config.ServerList;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.FileHealth;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.SlabStatus;
import io.takofs.server.report.Clusters;
import io.takofs.server.report.Sizes;
import io.takofs.server.report.Spans;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** All servers, their slabs, and what is being repaired. */
final class ClusterPage implements HtmlPage {
  private final ClusterSource cluster;

  /** Gives the page the cluster's status. */
  @FunctionalInterface
  interface ClusterSource {
    /**
     * The status.
     *
     * @throws TakoException UNAVAILABLE when the server is stuck
     */
    ClusterStatus get() throws TakoException;
  }

  ClusterPage(ClusterSource cluster) {
    this.cluster = cluster;
  }

  @Override
  public String title() {
    return "Cluster";
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) throws TakoException {
    ClusterStatus now = cluster.get();
    html.heading(now.getName().isEmpty() ? "Servers" : "Servers of " + now.getName());
    now.getWarningsList().forEach(html::warning);
    servers(html, now);
    slabs(html, now.getSlabsList());
    if (now.hasRepair() && now.getServersCount() > 1) {
      repair(html, now.getRepair());
    }
    if (now.hasFiles() && now.getServersCount() > 1) {
      files(html, now.getFiles());
    }
    String age = Spans.clock(Duration.ofMillis(now.getLeaderAgeMs()));
    if (now.getLeader() == 0 && now.hasRepair()) {
      html.paragraph("No server leads: what stands here of slabs was said " + age + " ago.");
    } else if (now.getLeader() != 0 && now.getLeader() != now.getServer()) {
      html.paragraph(
          "Server "
              + now.getLeader()
              + " leads: what stands here of slabs is what it said "
              + age
              + " ago.");
    }
    return 200;
  }

  private static void servers(Html html, ClusterStatus now) {
    html.table(
        "Server", "Address", "State", "Health", "Rack", "Version", "Used", "Of", "Slabs", "Up");
    for (ServerHealth each : now.getServersList()) {
      ServerEntry entry = each.getEntry();
      boolean heard = each.getHeard();
      String address = ServerList.address(entry.getHost(), entry.getPort());
      html.row(
          entry.getId() + (entry.getId() == now.getServer() ? " (this one)" : ""),
          Html.isPageAddress(entry.getHttp()) ? new Html.Link(address, entry.getHttp()) : address,
          new Html.Figure(Clusters.state(entry)),
          each.getTrouble().isEmpty() ? "well" : new Html.Alert(each.getTrouble()),
          entry.getRack(),
          entry.getVersion(),
          new Html.Figure(heard ? Clusters.used(each.getUsage()) : ""),
          new Html.Figure(heard ? Sizes.human(each.getUsage().getCapacity()) : ""),
          each.getReplicas(),
          new Html.Figure(heard ? Spans.clock(Duration.ofMillis(each.getUptimeMs())) : ""));
    }
    html.endTable();
  }

  private static void slabs(Html html, List<SlabStatus> slabs) {
    html.heading("Slabs");
    if (slabs.isEmpty()) {
      html.paragraph("There are none.");
      return;
    }
    html.table("State", "Slabs", "Bytes in them");
    for (SlabStatus each : slabs) {
      html.row(each.getState(), each.getSlabs(), Sizes.human(each.getBytes()));
    }
    html.endTable();
  }

  private static void repair(Html html, RepairStatus repair) {
    html.heading("Repair").table("", "");
    html.row("Slabs that wait", repair.getSlabsWaiting());
    html.row("Slabs that are copied now", repair.getSlabsCopiedNow());
    html.row("Bytes left", Sizes.human(repair.getBytesLeft()));
    html.row(
        "Rate",
        Sizes.human(repair.getBytesPerSecond())
            + "/s"
            + (repair.getBytesPerSecondMax() == 0
                ? ", without a limit"
                : " of at most " + Sizes.human(repair.getBytesPerSecondMax()) + "/s")
            + Clusters.timeLeft(repair));
    html.row(
        "Copied since the leader started",
        repair.getSlabsDone() + " slabs, " + Sizes.human(repair.getBytesDone()));
    html.row(
        "Files that get another number of copies",
        repair.getFilesToMove()
            + (repair.getMovesWait().isEmpty() ? "" : ", waits " + repair.getMovesWait()));
    html.row("Files that got another number of copies", repair.getFilesMoved());
    html.row("Slabs emptied because their room was needed", repair.getSlabsEmptied());
    html.row("Moved for that", Sizes.human(repair.getBytesMoved()));
    html.row("Bytes verified", Sizes.human(repair.getBytesVerified()));
    html.row("Wrong copies found", repair.getWrongCopies());
    html.endTable();
  }

  private static void files(Html html, FileHealth files) {
    html.heading("Files").table("", "");
    html.row("Corrupt", files.getCorrupt());
    html.row("Missing", files.getMissing());
    html.endTable();
    if (files.getCorrupt() + files.getMissing() > 0) {
      html.paragraph("`tako fsck` names them.");
    }
  }
}
