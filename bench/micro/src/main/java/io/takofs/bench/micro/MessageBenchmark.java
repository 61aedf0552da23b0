package io.takofs.bench.micro;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;
import io.takofs.proto.GetFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * The time of Protocol Buffers in the smallest call, a stat: each call pays all four. Messages are
 * made anew each time, as calls do, because a message remembers its size.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MessageBenchmark {
  private final String path = "/user/alice/warehouse/events/part-00000.parquet";
  private final FileInfo file =
      FileInfo.newBuilder()
          .setId(0x2a00_0000_0012_3456L)
          .setType(FileType.FILE)
          .setLength(123_456_789)
          .setPermission(0644)
          .setOwner("alice")
          .setGroup("analysts")
          .setModificationTimeMs(1_800_000_000_000L)
          .setAccessTimeMs(1_800_000_000_000L)
          .setReplication(1)
          .setBlockSize(128 << 20)
          .setVersion(7)
          .build();
  private final byte[] request = encodeRequest();
  private final byte[] reply = encodeReply();

  /** By the client. */
  @Benchmark
  public byte[] encodeRequest() {
    return Request.newBuilder()
        .setAcknowledgedBelow(1_000_000)
        .setGetFile(GetFile.newBuilder().setPath(path))
        .build()
        .toByteArray();
  }

  /** By the server. */
  @Benchmark
  public Request decodeRequest() throws InvalidProtocolBufferException {
    return Request.parseFrom(request);
  }

  /** By the server, from the state machine's reply. */
  @Benchmark
  public byte[] encodeReply() {
    return Reply.newBuilder().setFile(file.toBuilder()).build().toByteArray();
  }

  /** By the client. */
  @Benchmark
  public Reply decodeReply() throws InvalidProtocolBufferException {
    return Reply.parseFrom(reply);
  }
}
