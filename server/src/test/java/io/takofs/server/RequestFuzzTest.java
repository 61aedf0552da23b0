package io.takofs.server;

import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests whose every field is anything its type allows, mixed with values that nearly fit. */
@Timeout(300)
class RequestFuzzTest {
  private static final List<String> NAMES =
      List.of("", "/", "/a", "/a/b", "/a/b/c", "a", "//", "/a/", "/../a", "/a/.", "/kept", "/a\0");
  private static final long[] NUMBERS = {
    0, 1, 2, 3, 4095, 4096, 65535, 65536, 1 << 20, 0x7fffffffL, 0xffffffffL, Long.MAX_VALUE, -1
  };

  @TempDir Path directory;

  private final Random random = new Random();

  private String text() {
    if (random.nextInt(4) > 0) {
      return NAMES.get(random.nextInt(NAMES.size()));
    }
    return random
        .ints(random.nextInt(400), 0, 0x3000)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  private Object value(FieldDescriptor field, int depth) {
    return switch (field.getJavaType()) {
      case INT -> (int) NUMBERS[random.nextInt(NUMBERS.length)];
      case LONG -> NUMBERS[random.nextInt(NUMBERS.length)];
      case BOOLEAN -> random.nextBoolean();
      case STRING -> text();
      case BYTE_STRING -> ByteString.copyFrom(new byte[random.nextInt(3000)]);
      case ENUM -> field.getEnumType().getValues().get(0);
      case MESSAGE -> message(field, depth + 1);
      case FLOAT, DOUBLE -> throw new AssertionError("the protocol has no " + field);
    };
  }

  private Message message(FieldDescriptor field, int depth) {
    DynamicMessage.Builder builder = DynamicMessage.newBuilder(field.getMessageType());
    for (FieldDescriptor inner : field.getMessageType().getFields()) {
      if (random.nextInt(4) == 0 || depth > 3) {
        continue;
      }
      if (inner.isRepeated()) {
        for (int i = random.nextInt(4); i > 0; i--) {
          builder.addRepeatedField(inner, value(inner, depth));
        }
      } else {
        builder.setField(inner, value(inner, depth));
      }
    }
    return builder.build();
  }

  private Request request() throws Exception {
    OneofDescriptor operations = Request.getDescriptor().getOneofs().get(0);
    FieldDescriptor operation =
        operations.getFields().get(random.nextInt(operations.getFields().size()));
    Request.Builder builder = Request.newBuilder();
    Message.Builder chosen = builder.newBuilderForField(operation);
    chosen.mergeFrom(message(operation, 0).toByteString());
    return builder.setField(operation, chosen.build()).build();
  }

  @Test
  void shouldAnswerWhateverIsAsked() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    random.setSeed(seed);
    byte[] kept = "kept whatever happens".getBytes(StandardCharsets.UTF_8);
    Map<Status, Integer> statuses = new EnumMap<>(Status.class);
    ManualClock clock = new ManualClock();
    TestServer server = new TestServer(directory.resolve("pool"), clock);
    try (TestClient owner = new TestClient(server, "owner");
        TestClient root = new TestClient(server, TestServer.SUPERUSER);
        TestClient stranger = new TestClient(server, "stranger")) {
      ok(root.call(chmodRoot()));
      owner.writeInline("/kept", kept);
      for (int i = 0; i < 10_000; i++) {
        Request request = request();
        if (request.getSerializedSize() > 16_000 || request.hasCloseSession()) {
          continue;
        }
        Reply reply = stranger.call(request);
        statuses.merge(reply.getStatus(), 1, Integer::sum);
        assertThat(reply.getStatus())
            .as("%s: %s", request, reply.getMessage())
            .isNotEqualTo(Status.INTERNAL)
            .isNotEqualTo(Status.UNAVAILABLE);
        if (request.hasOpenSession() && reply.getStatus() == Status.OK) {
          stranger.session = reply.getSession();
        }
        if (i % 100 == 0) {
          server.pass(250);
          assertThat(owner.readInline("/kept")).isEqualTo(kept);
        }
      }
      // The log and the store can be replayed after the fuzzed calls.
      server.kill();
      server = new TestServer(directory.resolve("pool"), clock);
      owner.reconnect(server.endpoint());
      assertThat(owner.readInline("/kept")).isEqualTo(kept);
    } finally {
      server.close();
    }
    System.out.println(statuses);
    assertThat(statuses.keySet()).hasSizeGreaterThan(4);
  }

  /** Everybody may make entries, but only owners remove theirs. */
  private static Request chmodRoot() {
    return Request.newBuilder()
        .setSetAttributes(SetAttributes.newBuilder().setPath("/").setPermission(01777))
        .build();
  }
}
