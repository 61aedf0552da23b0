package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.ContentCursor;
import io.takofs.proto.ContentSummaryPart;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.Request;
import java.util.ArrayDeque;
import java.util.Deque;

/** Adds up the parts in which a server sums up a tree. */
final class Summation {
  private Summation() {}

  static ContentSummary of(Session session, String path) throws TakoException {
    // The newest first, so that they never become many.
    Deque<ContentCursor> remaining = new ArrayDeque<>();
    GetContentSummary.Builder request = GetContentSummary.newBuilder().setPath(path);
    ContentSummary total = new ContentSummary(0, 0, 0, 0);
    while (true) {
      ContentSummaryPart part =
          session
              .call("contentSummary", path, Request.newBuilder().setGetContentSummary(request))
              .getContentSummary();
      total = sum(total, part);
      part.getRemainingList().forEach(remaining::push);
      if (remaining.isEmpty()) {
        return total;
      }
      request.setCursor(remaining.pop());
    }
  }

  private static ContentSummary sum(ContentSummary total, ContentSummaryPart part) {
    return new ContentSummary(
        total.length() + part.getLength(),
        total.fileCount() + part.getFileCount(),
        total.directoryCount() + part.getDirectoryCount(),
        total.spaceConsumed() + part.getSpaceConsumed());
  }
}
