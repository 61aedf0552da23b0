package io.takofs.server.namespace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.State;
import io.takofs.server.store.HeapStore;
import io.takofs.server.store.OrderedMap;
import org.junit.jupiter.api.Test;

class ResultTableTest {
  private static final long CLIENT = 7;

  private final State state = new State(new HeapStore(Long.MAX_VALUE));

  private Context call(long sequence) {
    return Context.of(
        state, 1, LogEntry.newBuilder().setClientId(CLIENT).setSequence(sequence).build());
  }

  private static Reply reply(int bytes) {
    return Reply.newBuilder().setMessage("x".repeat(bytes)).build();
  }

  @Test
  void shouldRefuseWhatIsTooLongToBeKeptBeforeAnythingIsChanged() throws Exception {
    Context call = call(1);
    assertThatThrownBy(() -> state.results.record(call, reply(OrderedMap.VALUE_MAX)))
        .isInstanceOf(TakoException.class)
        .hasFieldOrPropertyWithValue("status", Status.INTERNAL);
    call.tx().commit(0);
    assertThat(state.results.find(CLIENT, 1, 0)).isNull();
  }

  @Test
  void shouldKeepTheReplyToAPartWhenTheNextIsUndone() throws Exception {
    Context first = call(1);
    state.results.record(first, reply(1));
    first.tx().commit(0);
    Context second = call(1);
    state.results.record(second, reply(2));
    second.tx().abort();
    assertThat(state.results.find(CLIENT, 1, 0)).isEqualTo(reply(1));
  }
}
