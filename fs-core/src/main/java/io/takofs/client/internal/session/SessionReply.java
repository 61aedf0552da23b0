package io.takofs.client.internal.session;

import io.takofs.proto.Reply;

/**
 * A successful reply.
 *
 * @param reply with status OK
 * @param session under which the call was executed
 */
public record SessionReply(Reply reply, SessionIdentity session) {}
