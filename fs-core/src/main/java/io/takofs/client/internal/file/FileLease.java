package io.takofs.client.internal.file;

import io.takofs.client.internal.session.SessionIdentity;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.proto.OpenedFile;

/**
 * The right to write a file.
 *
 * @param holder the session that has it
 * @param epoch tells this lease from others on the same file
 */
record FileLease(SessionIdentity holder, long fileId, long epoch) {
  /** The lease that came with the file that {@code reply} opened. */
  static FileLease of(SessionReply reply) {
    OpenedFile opened = reply.reply().getOpenedFile();
    return new FileLease(reply.session(), opened.getFile().getId(), opened.getLeaseEpoch());
  }
}
