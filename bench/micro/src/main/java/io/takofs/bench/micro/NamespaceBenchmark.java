package io.takofs.bench.micro;

import io.takofs.proto.Caller;
import io.takofs.proto.Create;
import io.takofs.proto.GetContentSummary;
import io.takofs.proto.GetFile;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.Limits;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The work done under the server's one lock: the state machine without log, sessions and transport.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NamespaceBenchmark {
  private static final int PER_DIRECTORY = 1000;
  private static final String LISTED = "/bench/directory-7";

  /** A namespace and the one client that changes it. */
  private static final class Namespace implements AutoCloseable {
    private static final Caller CALLER =
        Caller.newBuilder().setUser("bench").setSuperuser(true).build();

    private final PageZone zone;
    final StateMachine machine;
    private final long clientId;
    private long index;
    private long sequence;

    Namespace(long zoneBytes) throws IOException {
      zone = new PageZone(zoneBytes);
      machine = new StateMachine(zone.store);
      checked(
          machine.apply(
              ++index,
              LogEntry.newBuilder().setFormatGroup(Limits.defaults("bench").toProto(1)).build()));
      Request open =
          Request.newBuilder()
              .setOpenSession(
                  OpenSessionRequest.newBuilder().setUser("bench").setClientName("bench"))
              .build();
      clientId = apply(0, open).getSession().getClientId();
    }

    private Reply apply(long client, Request request) {
      index++;
      Reply reply =
          machine.apply(
              index,
              LogEntry.newBuilder()
                  .setClientId(client)
                  .setSequence(++sequence)
                  .setTimeMs(index)
                  .setCaller(CALLER)
                  .setRequest(request)
                  .build());
      return checked(reply);
    }

    Reply create(int file) {
      return apply(
          clientId,
          Request.newBuilder()
              .setAcknowledgedBelow(sequence + 1)
              .setCreate(
                  Create.newBuilder()
                      .setPath(path(file))
                      .setPermission(0644)
                      .setCreateParents(true)
                      .setReplication(1)
                      .setBlockSize(128 << 20))
              .build());
    }

    Reply query(Request.Builder request) {
      return checked(machine.query(CALLER, request.build()));
    }

    private static Reply checked(Reply reply) {
      if (reply.getStatus() != Status.OK) {
        throw new IllegalStateException(reply.getMessage());
      }
      return reply;
    }

    static String path(int file) {
      return "/bench/directory-" + file / PER_DIRECTORY + "/file-" + file;
    }

    @Override
    public void close() {
      zone.close();
    }
  }

  /** A namespace that grows with every call, so each iteration has a new one. */
  @State(Scope.Thread)
  public static class Growing {
    private static final long ZONE_BYTES = 1L << 30;

    private Namespace namespace;
    private int files;

    @Setup(Level.Iteration)
    public void open() throws IOException {
      namespace = new Namespace(ZONE_BYTES);
      files = 0;
    }

    @TearDown(Level.Iteration)
    public void close() {
      namespace.close();
    }
  }

  /** A namespace of 100000 files that stays as it is. */
  @State(Scope.Thread)
  public static class Full {
    private static final int FILES = 100_000;
    private static final long ZONE_BYTES = 256 << 20;

    private final Random random = new Random(1);
    private Namespace namespace;

    @Setup
    public void fill() throws IOException {
      namespace = new Namespace(ZONE_BYTES);
      for (int file = 0; file < FILES; file++) {
        namespace.create(file);
      }
    }

    @TearDown
    public void close() {
      namespace.close();
    }
  }

  /** The commonest change, and one that makes several records. */
  @Benchmark
  public Reply create(Growing state) {
    return state.namespace.create(state.files++);
  }

  /** The commonest call of all: Hadoop asks for a status before nearly everything. */
  @Benchmark
  public Reply getFile(Full state) {
    return state.namespace.query(
        Request.newBuilder()
            .setGetFile(
                GetFile.newBuilder().setPath(Namespace.path(state.random.nextInt(Full.FILES)))));
  }

  /** A page of a directory, as the bytes of a reply. */
  @Benchmark
  public byte[] listPage(Full state) {
    return state
        .namespace
        .query(Request.newBuilder().setList(io.takofs.proto.List.newBuilder().setPath(LISTED)))
        .toByteArray();
  }

  /** A whole page of a summary: of all queries the one that others wait for longest. */
  @Benchmark
  public Reply contentSummaryPage(Full state) {
    return state.namespace.query(
        Request.newBuilder().setGetContentSummary(GetContentSummary.newBuilder().setPath("/")));
  }
}
