package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Reply;
import io.takofs.proto.Status;

/** Assertions about replies. */
final class Statuses {
  private Statuses() {}

  static Reply assertOk(Reply reply) {
    return assertStatus(reply, Status.OK);
  }

  static Reply assertStatus(Reply reply, Status status) {
    assertThat(reply.getStatus()).as(reply.toString()).isEqualTo(status);
    assertThat(reply.getMessage().isEmpty()).as(reply.toString()).isEqualTo(status == Status.OK);
    return reply;
  }
}
