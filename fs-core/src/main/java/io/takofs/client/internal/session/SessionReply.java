package io.takofs.client.internal.session;

import io.takofs.proto.Reply;
import io.takofs.proto.SessionTerms;

/**
 * A successful reply.
 *
 * @param reply with status OK
 * @param session under which the call was executed
 * @param terms of the session at the server that answered
 */
public record SessionReply(Reply reply, SessionIdentity session, SessionTerms terms) {}
