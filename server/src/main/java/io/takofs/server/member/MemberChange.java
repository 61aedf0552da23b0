package io.takofs.server.member;

import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.MoveLeader;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogPeers;
import io.takofs.server.member.MemberChoice.Replacement;
import io.takofs.server.peer.ClusterTopology;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a group the members that it should have ({@link MemberChoice}), at its leader. A new member
 * learns the log first; then the catalog goes to the next configuration, and somebody stands for
 * election in it (model Reconfig, R6).
 *
 * <p>Thread rule: the member's thread.
 */
public final class MemberChange {
  private static final Logger LOG = LoggerFactory.getLogger(MemberChange.class);

  /** Entries that a server may lack to become a member. */
  private static final long LAG_MAX = 4096;

  /** Longest elections in the time after which another configuration is asked for again. */
  private static final int ASK_AGAIN_ELECTIONS = 8;

  /** After which another server learns instead of one that does not get the log, at most. */
  private static final long LEARNS_WITHIN_NS = TimeUnit.MINUTES.toNanos(1);

  private final LogMember member;
  private final LogPeers peers;
  private final MemberCatalog catalog;
  private final ClusterTopology cluster;
  private final MemberSettings settings;
  private final long askAgainNs;
  private final MemberSilence silence;
  private final ReplacementRequest request = new ReplacementRequest();
  private final Sight sight = new Sight();
  private final MemberChoice choice;
  private Set<Integer> learning = Set.of();
  private String warned = "";
  private long askedNs = Long.MIN_VALUE; // when another configuration was asked for

  public MemberChange(
      LogMember member,
      LogPeers peers,
      MemberCatalog catalog,
      ClusterTopology cluster,
      MemberSettings settings) {
    this.member = member;
    this.peers = peers;
    this.catalog = catalog;
    this.cluster = cluster;
    this.settings = settings;
    this.askAgainNs = ASK_AGAIN_ELECTIONS * settings.times().electionMaxNs();
    this.silence = new MemberSilence(Math.min(settings.replaceAfterNs(), LEARNS_WITHIN_NS));
    this.choice = new MemberChoice(cluster, settings.members(), sight);
  }

  private final class Sight implements MemberChoice.Sight {
    @Override
    public boolean hasTransport(int server) {
      return peers.transportTo(server) != null;
    }

    @Override
    public boolean isReached(int server) {
      return server == cluster.serverId() || member.isCaughtUp(server, Long.MAX_VALUE / 2);
    }

    @Override
    public int lastFailure(int server) {
      return silence.lastFailure(server);
    }

    @Override
    public boolean isGone(int server) {
      return silence.silentNs(server) >= settings.replaceAfterNs();
    }
  }

  /**
   * Has {@code comes} take the place of {@code leaves}, if that can be while this server leads, and
   * within an hour; on any thread.
   *
   * @throws TakoException INVALID_ARGUMENT when that cannot be, BUSY when {@code comes} is not
   *     reached, NOT_LEADER when this server does not lead
   */
  public void replace(int leaves, int comes) throws TakoException {
    long term = member.leadingTerm();
    if (term == 0) {
      throw new TakoException(Status.NOT_LEADER, "this server leads the group no more");
    }
    Set<Integer> members = catalog.read().members();
    if (!members.contains(leaves)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server " + leaves + " is no member of the group, which has " + members);
    }
    if (comes == leaves) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d cannot take its own place: name another server".formatted(comes));
    }
    if (members.contains(comes)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "server " + comes + " is a member of the group already");
    }
    if (cluster.server(comes).isEmpty()) {
      throw new TakoException(Status.INVALID_ARGUMENT, "the cluster has no server " + comes);
    }
    if (!choice.isFit(comes)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("server %d cannot become a member: it must be UP and not damaged, have a log of %d"
                  + " segments and as many metadata pages as the members (fs.tako.server.pool.size)")
              .formatted(comes, GroupConfig.SEGMENTS_MIN));
    }
    if (peers.transportTo(comes) == null) {
      throw new TakoException(
          Status.BUSY,
          ("server %d is not reached from server %d, which leads: start it, or see what stands"
                  + " between them (tako doctor URI), then give the command again")
              .formatted(comes, cluster.serverId()));
    }
    request.set(term, new Replacement(leaves, comes));
  }

  /**
   * Has another member stand for election; on any thread. There is nothing to do when it is this
   * one, which leads.
   *
   * @param server that shall; 0 for any other that can
   * @return whether one was asked, or leads
   * @throws TakoException INVALID_ARGUMENT when it is no member, BUSY when it is down or lags
   */
  boolean moveTo(int server) throws TakoException {
    Set<Integer> members = catalog.read().members();
    if (server == cluster.serverId() && member.leadingTerm() != 0) {
      return true;
    }
    if (server != 0 && !members.contains(server)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d is no member of the group: server %d leads, and it has %s"
              .formatted(server, cluster.serverId(), members));
    }
    List<Integer> able =
        members.stream()
            .filter(each -> server == 0 ? each != cluster.serverId() : each == server)
            .filter(each -> member.isCaughtUp(each, LAG_MAX))
            .toList();
    if (able.isEmpty() && server != 0) {
      throw new TakoException(
          Status.BUSY,
          ("server %d is down, or lacks more than %d entries: start it, wait until it has them"
                  + " (tako group status), or name another member")
              .formatted(server, LAG_MAX));
    }
    askToStand(able.iterator(), member.leadingTerm());
    return !able.isEmpty();
  }

  /**
   * Asks one after the other until one stands: a member without a state, say, does not. When this
   * one leads in {@code term} no more, somebody has stood, and nobody else is asked.
   */
  private void askToStand(Iterator<Integer> servers, long term) {
    if (servers.hasNext() && member.leadingTerm() == term) {
      Request stand =
          Request.newBuilder()
              .setMoveLeader(
                  MoveLeader.newBuilder().setGroup(catalog.group()).setTerm(member.releaseLease()))
              .build();
      peers.call(
          servers.next(),
          stand,
          reply -> {
            if (reply.getStatus() != Status.OK) {
              askToStand(servers, term);
            }
          });
    }
  }

  /** Does what is due. */
  public void tick(long nowNs) {
    if (member.leadingTerm() == 0) {
      silence.forget();
      learning = Set.of();
      askedNs = Long.MIN_VALUE;
      return;
    }
    GroupConfig now = member.config();
    GroupConfig newest = catalog.read();
    if (newest.epoch() > now.epoch()) {
      letSomebodyStand(newest);
      return;
    }
    if (!newest.active()) {
      catalog.activate(now.epoch()); // again, if the catalog was away
      return;
    }
    silence.look(now.members(), learning, sight::isReached, nowNs);
    warn();
    Replacement asked = request.get(member.leadingTerm(), now.members(), nowNs);
    Set<Integer> wanted = choice.wanted(now.members(), asked);
    Set<Integer> learners = new TreeSet<>(wanted);
    learners.removeAll(now.members());
    learning = learners;
    member.setLearners(learners);
    if (!wanted.equals(now.members())
        && isRight(learners, wanted)
        && (askedNs == Long.MIN_VALUE || nowNs - askedNs >= askAgainNs)) {
      Facts.of("epoch", now.epoch()).and("members", wanted).info(LOG, "the group gets new members");
      askedNs = nowNs;
      long term = member.leadingTerm();
      catalog.change(
          now.epoch(),
          wanted,
          () -> term != 0 && member.leadingTerm() == term && isRight(learners, wanted));
    }
  }

  /** Says once, and when it changes, why there are fewer members than there should be. */
  private void warn() {
    String warning = cluster.groupWarning().orElse("");
    if (!warning.equals(warned)) {
      warned = warning;
      if (!warning.isEmpty()) {
        LOG.warn("{}", warning);
      }
    }
  }

  /** Whether the new ones have the log, and a majority of all gets it at the moment. */
  private boolean isRight(Set<Integer> learners, Set<Integer> wanted) {
    return learners.stream().allMatch(each -> member.isCaughtUp(each, LAG_MAX))
        && choice.lives(wanted);
  }

  /** This server, if it is a member of {@code newest}, else another one that is. */
  private void letSomebodyStand(GroupConfig newest) {
    int self = cluster.serverId();
    if (newest.members().contains(self)) {
      member.stand();
      return;
    }
    askToStand(
        newest.members().stream()
            .filter(each -> member.isCaughtUp(each, LAG_MAX))
            .toList()
            .iterator(),
        member.leadingTerm());
  }
}
