package io.takofs.client;

import io.takofs.proto.Reply;

/**
 * A successful reply.
 *
 * @param reply with status OK
 * @param session under which the call was executed
 */
record Answer(Reply reply, SessionIdentity session) {}
