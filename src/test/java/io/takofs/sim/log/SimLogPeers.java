package io.takofs.sim.log;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.LogPeers;
import io.takofs.server.log.LogTransport;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimTransport;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** A member's way to the others: each call may be lost, be done without an answer, or late. */
final class SimLogPeers implements LogPeers {
  private static final long CALL_TIMEOUT_NS = 20_000_000;
  private static final long CONNECT_TIMEOUT_NS = 20_000_000;

  private final SimNetwork network;
  private final List<SimLogMember> group;
  private final SimProcess own;
  private final SimTransport transport;
  private final LogTransport via;
  private final QueuePairConfig pairs;
  private final BrokenParts parts;
  private final Spite spite;

  SimLogPeers(
      SimNetwork network,
      List<SimLogMember> group,
      SimProcess own,
      SimTransport transport,
      LogTransport via,
      QueuePairConfig pairs,
      BrokenParts parts,
      Spite spite) {
    this.network = network;
    this.group = group;
    this.own = own;
    this.transport = transport;
    this.via = via;
    this.pairs = pairs;
    this.parts = parts;
    this.spite = spite;
  }

  @Override
  public void call(int server, Request request, Consumer<Reply> answer) {
    boolean[] answered = new boolean[1];
    SimLogMember called = group.get(server - 1);
    SimProcess process = called.process();
    if (called.isAlive()) {
      network.schedule(
          network.latencyNs(own, process),
          () -> {
            if (!network.links().isCut(own, process)) {
              network
                  .scheduler()
                  .schedule(
                      process,
                      0,
                      () ->
                          reply(
                              process,
                              called.answer(request),
                              request.hasAdoptLog(),
                              answered,
                              answer));
            }
          });
    }
    network
        .scheduler()
        .schedule(
            own,
            CALL_TIMEOUT_NS,
            () -> {
              if (!answered[0]) {
                answered[0] = true;
                answer.accept(Reply.newBuilder().setStatus(Status.UNAVAILABLE).build());
              }
            });
  }

  private void reply(
      SimProcess from, Reply reply, boolean adopts, boolean[] answered, Consumer<Reply> answer) {
    network.schedule(
        network.latencyNs(from, own),
        () -> {
          if (!network.links().isCut(from, own)) {
            network
                .scheduler()
                .schedule(
                    own,
                    0,
                    () -> {
                      if (!answered[0]) {
                        answered[0] = true;
                        answer.accept(reply);
                        if (adopts) {
                          spite.strike(own);
                        }
                      }
                    });
          }
        });
  }

  @Override
  public LogTransport transportTo(int server) {
    return via;
  }

  @Override
  public void connect(
      int server, LogTransport over, long term, long grant, Consumer<QueuePair> answer) {
    Consumer<Consumer<QueuePair>> connect =
        then ->
            network.scheduler().schedule(own, 0, () -> then.accept(connect(server, term, grant)));
    connect.accept(
        pair -> {
          answer.accept(pair == null || grant == 0 ? pair : parts.outgoing(pair, server, connect));
          spite.strike(own);
        });
  }

  private QueuePair connect(int server, long term, long grant) {
    try {
      return transport.connect(
          group.get(server - 1).endpoint(),
          pairs,
          SimLogDoor.asked(term, grant),
          CONNECT_TIMEOUT_NS);
    } catch (IOException e) {
      return null; // it is not there, or lets this member in no more
    }
  }
}
