package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The slots of a connection, as credits for calls. */
class ClientSlotsTest {
  @Test
  void shouldGiveEachSlotToOneCall() throws Exception {
    try (ClientSlots slots = new ClientSlots(new LoopbackTransport(false), ConnectionKind.RPC)) {
      List<ClientSlot> taken = new ArrayList<>();
      while (slots.anyFree()) {
        taken.add(slots.poll());
      }
      assertThat(taken).hasSize(Layout.RPC_SLOTS).doesNotContainNull();
      assertThat(new HashSet<>(taken)).hasSize(Layout.RPC_SLOTS);
      assertThat(slots.poll()).isNull();
      assertThat(taken).allSatisfy(slot -> assertThat(slots.get(slot.index)).isSameAs(slot));
    }
  }

  @Test
  void shouldGiveTheSlotThatWasFreedLastFirst() throws Exception {
    try (ClientSlots slots = new ClientSlots(new LoopbackTransport(false), ConnectionKind.RPC)) {
      ClientSlot first = slots.poll();
      ClientSlot second = slots.poll();
      slots.free(first);
      slots.free(second);
      assertThat(slots.poll()).isSameAs(second);
      assertThat(slots.poll()).isSameAs(first);
    }
  }

  @Test
  void shouldGiveEachSlotMemoryOfItsOwn() throws Exception {
    try (ClientSlots slots = new ClientSlots(new LoopbackTransport(false), ConnectionKind.RPC)) {
      for (ClientSlot slot : slots.all()) {
        assertThat(slot.request.capacity()).isEqualTo(Layout.RPC_REQUEST_SLOT_SIZE);
        assertThat(slot.reply.capacity()).isEqualTo(Layout.RPC_REPLY_SLOT_SIZE);
        slot.request.put(0, (byte) (slot.index + 1));
      }
      for (ClientSlot slot : slots.all()) {
        int at = slot.index * Layout.RPC_REQUEST_SLOT_SIZE;
        assertThat(slots.requests().buffer().get(at)).isEqualTo((byte) (slot.index + 1));
      }
    }
  }
}
