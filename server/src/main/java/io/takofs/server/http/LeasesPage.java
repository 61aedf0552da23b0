package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.ListLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.report.Spans;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Files open for writing, as far as the page's user may see them. */
final class LeasesPage implements HtmlPage {
  private final ServerView server;
  private final Optional<String> user;

  LeasesPage(ServerView server, Optional<String> user) {
    this.server = server;
    this.user = user;
  }

  @Override
  public String title() {
    return "Open files";
  }

  @Override
  public boolean isOfNamespace() {
    return true;
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) throws TakoException {
    html.heading("Files open for writing");
    if (user.isEmpty()) {
      html.paragraph(FilesPage.HIDDEN).paragraph("`tako leases` lists them.");
      return 200;
    }
    Request request =
        Request.newBuilder()
            .setListLeases(ListLeases.newBuilder().setAfterFileId(after(parameters)))
            .build();
    Reply reply = server.query(user.get(), request);
    if (reply.getStatus() != Status.OK) {
      html.paragraph(reply.getMessage());
      return 400;
    }
    html.table("Opened as", "Writer", "User", "Open", "Last heard of");
    for (LeaseInfo each : reply.getLeases().getLeasesList()) {
      html.row(
          each.getPath().isEmpty() ? ".../" + each.getName() : each.getPath(),
          each.getClientName(),
          each.getUser(),
          Spans.clock(Duration.ofMillis(each.getOpenMs())),
          Spans.clock(Duration.ofMillis(each.getSilentMs())) + " ago");
    }
    html.endTable();
    if (reply.getLeases().getLeasesCount() == 0) {
      html.paragraph("There are none that " + user.get() + " may see.");
    }
    long next = reply.getLeases().getNextAfter();
    if (next != 0) {
      html.paragraph(new Html.Link("more", "/leases", "after", Long.toUnsignedString(next)));
    }
    return 200;
  }

  private static long after(Map<String, List<String>> parameters) {
    try {
      return Long.parseUnsignedLong(HtmlPage.first(parameters, "after"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
