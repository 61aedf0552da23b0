package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ListingReader;
import io.takofs.server.report.Modes;
import io.takofs.server.report.Sizes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A directory, as the page's user may see it. */
final class FilesPage implements HtmlPage {
  static final String HIDDEN =
      "Names of files are not shown here: everybody who reaches this page would see them. Set"
          + " fs.tako.server.http.user to the user whose permissions are to hold for it.";

  private static final int ENTRIES = 200;

  private final ServerView server;
  private final Optional<String> user;

  FilesPage(ServerView server, Optional<String> user) {
    this.server = server;
    this.user = user;
  }

  @Override
  public String title() {
    return "Files";
  }

  @Override
  public boolean isOfNamespace() {
    return true;
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) throws TakoException {
    String path = HtmlPage.first(parameters, "path");
    path = path.isEmpty() ? "/" : path;
    html.heading(user.isEmpty() ? title() : path);
    if (user.isEmpty()) {
      html.paragraph(HIDDEN).paragraph("`tako fs -ls` lists them.");
      return 200;
    }
    Reply reply = server.query(user.get(), request(path, HtmlPage.first(parameters, "after")));
    if (reply.getStatus() != Status.OK) {
      html.paragraph(reply.getMessage());
      return code(reply.getStatus());
    }
    if (!path.equals("/")) {
      html.paragraph(new Html.Link("up", "/files", "path", parent(path)));
    }
    try {
      list(html, path, new ListingReader(reply.getListing()));
    } catch (TakoException e) {
      throw new IllegalStateException("the server's own listing", e);
    }
    return 200;
  }

  private static Request request(String path, String after) {
    return Request.newBuilder()
        .setList(
            io.takofs.proto.List.newBuilder().setPath(path).setStartAfter(after).setLimit(ENTRIES))
        .build();
  }

  private static int code(Status status) {
    return switch (status) {
      case NOT_FOUND -> 404;
      case PERMISSION_DENIED -> 403;
      case UNAVAILABLE -> 503;
      default -> 400;
    };
  }

  private static void list(Html html, String path, ListingReader page) throws TakoException {
    boolean empty = !page.hasNext();
    html.table("Name", "Size", "Permission", "Owner", "Group", "Modified (UTC)");
    while (page.hasNext()) {
      page.next();
      boolean directory = page.directory();
      String name = page.name().isEmpty() ? path : page.name();
      html.row(
          directory ? new Html.Link(name + "/", "/files", "path", child(path, name)) : name,
          directory ? "" : Sizes.human(page.length()),
          Modes.text(directory, page.permission()),
          page.owner(),
          page.group(),
          Instant.ofEpochMilli(page.modificationTimeMs()).truncatedTo(ChronoUnit.SECONDS)
              + (page.underConstruction() ? ", being written" : ""));
    }
    html.endTable();
    if (empty) {
      html.paragraph("It is empty.");
    } else if (page.more()) {
      html.paragraph(new Html.Link("more", "/files", "path", path, "after", page.name()));
    }
  }

  private static String child(String path, String name) {
    return path.equals("/") ? "/" + name : path + "/" + name;
  }

  private static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash <= 0 ? "/" : path.substring(0, slash);
  }
}
