package io.takofs.server;

import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Servers that lend slabs: number 1 is the leader's own and answers at once, the others when the
 * test says so.
 */
final class SlowServers implements DataServers {
  private record Answer(int server, Runnable run) {}

  private final Map<Integer, LentSlabs> zones = new TreeMap<>();
  private final Set<Integer> down = new TreeSet<>();
  private final Map<Integer, ServerEntry.State> states = new TreeMap<>();
  private final Map<Integer, String> racks = new TreeMap<>();
  private final Deque<Answer> answers = new ArrayDeque<>();

  /** Extents that one question for a copy copies at most. */
  int copied = Integer.MAX_VALUE;

  /** Servers of which the leader has nothing any more. */
  final Set<Integer> emptied = new TreeSet<>();

  /** Server to which a call cannot even be begun; 0 for none. */
  int broken;

  /** Bytes of the largest request to take slabs back. */
  int largestReturn;

  /** Questions for copies. */
  int copies;

  /** Servers that were asked to copy. */
  final Set<Integer> targets = new TreeSet<>();

  /** The limit of each server that was asked to copy. */
  final Map<Integer, Long> limits = new TreeMap<>();

  /** Extents that servers were asked to verify, and have verified. */
  int verified;

  /** The replicas that servers were asked to verify, each once, in order. */
  final Set<Replica> scrubbed = new LinkedHashSet<>();

  /** Questions to verify. */
  int verifications;

  /** Whether servers come to what they are to verify. */
  boolean verifies = true;

  /** A server for each, numbered from 1. */
  SlowServers(LentSlabs... slabs) {
    for (LentSlabs server : slabs) {
      zones.put(zones.size() + 1, server);
    }
  }

  LentSlabs zone(int server) {
    return zones.get(server);
  }

  /** The server has other memory from now on, of which nothing is lent. */
  void replace(int server, LentSlabs slabs) {
    zones.put(server, slabs);
  }

  /** One more server. */
  void add(LentSlabs slabs) {
    zones.put(zones.size() + 1, slabs);
  }

  /** What the map says of a server. */
  void mark(int server, ServerEntry.State state) {
    states.put(server, state);
  }

  void place(int server, String rack) {
    racks.put(server, rack);
  }

  String rack(int server) {
    return racks.getOrDefault(server, "/default-rack");
  }

  void stop(int server) {
    down.add(server);
  }

  void start(int server) {
    down.remove(server);
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    if (serverId == broken) {
      throw new IllegalStateException("server " + serverId + " cannot be asked");
    }
    if (request.hasReturnSlabs()) {
      largestReturn = Math.max(largestReturn, request.getSerializedSize());
    }
    Reply reply =
        down.contains(serverId) || !zones.containsKey(serverId)
            ? Reply.newBuilder()
                .setStatus(Status.UNAVAILABLE)
                .setMessage("server " + serverId + " is down")
                .build()
            : request.hasCopyExtents()
                ? copy(serverId, request.getCopyExtents())
                : zones.get(serverId).apply(request);
    if (serverId == 1) {
      answer.accept(reply);
    } else {
      answers.add(new Answer(serverId, () -> answer.accept(reply)));
    }
  }

  /** Extents that are wrong are told; the others are done. */
  private Reply verify(int serverId, CopyExtents asked) {
    CopyProgress.Builder progress = CopyProgress.newBuilder();
    verifications++;
    scrubbed.add(asked.getTarget());
    if (!verifies) {
      return Reply.newBuilder().setCopyProgress(progress).build();
    }
    for (int i = 0; i < asked.getExtentsCount(); i++) {
      if (zones.get(serverId).has(asked.getTarget().getLease(), asked.getExtents(i))) {
        progress.addDone(i);
      } else {
        progress.addFailed(CopyFailure.newBuilder().setIndex(i).setWrongBytes(true));
      }
    }
    verified += asked.getExtentsCount();
    return Reply.newBuilder().setCopyProgress(progress).build();
  }

  /** Copies up to {@link #copied} extents of each question, from the first source that has them. */
  private Reply copy(int serverId, CopyExtents copy) {
    if (copy.getSourcesCount() == 0) {
      return verify(serverId, copy);
    }
    CopyProgress.Builder progress = CopyProgress.newBuilder();
    long lease = copy.getTarget().getLease();
    LentSlabs zone = zones.get(serverId);
    for (int i = 0; i < copy.getExtentsCount() && progress.getDoneCount() < copied; i++) {
      Extent extent = copy.getExtents(i);
      for (Replica source : copy.getSourcesList()) {
        if (!zone.isHeld(lease) || zone.has(lease, extent)) {
          break;
        }
        if (!down.contains(source.getServer())) {
          boolean moves = copy.getSourceOffsetsCount() > 0;
          LentSlabs from = zones.get(source.getServer());
          boolean has =
              moves
                  ? from.hasAt(source.getLease(), copy.getSourceOffsets(i), extent.getLength())
                  : from.has(source.getLease(), extent);
          if (has) {
            zone.store(lease, extent);
          } else {
            progress.addFailed(
                CopyFailure.newBuilder()
                    .setIndex(i)
                    .setSource(source.getServer())
                    .setWrongBytes(true));
          }
        }
      }
      if (zone.has(lease, extent)) {
        progress.addDone(i);
      }
    }
    copies++;
    targets.add(serverId);
    limits.put(serverId, copy.getBytesPerSecond());
    return Reply.newBuilder().setCopyProgress(progress).build();
  }

  /** Delivers what {@code server} has answered by now, and not what it is asked then. */
  void deliver(int server) {
    for (Answer answer : List.copyOf(answers)) {
      if (answer.server() == server) {
        answers.remove(answer);
        answer.run().run();
      }
    }
  }

  @Override
  public void deliver() {
    while (!answers.isEmpty()) {
      answers.remove().run().run();
    }
  }

  /** The map does not have the server any more. */
  void remove(int server) {
    zones.remove(server);
  }

  @Override
  public void emptied(int serverId) {
    emptied.add(serverId);
  }

  @Override
  public List<ServerEntry> servers() {
    return zones.keySet().stream()
        .map(
            id ->
                ServerEntry.newBuilder()
                    .setId(id)
                    .setState(states.getOrDefault(id, ServerEntry.State.UP))
                    .setRack(rack(id))
                    .build())
        .toList();
  }
}
