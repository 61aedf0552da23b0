package io.takofs.server.catalog.raft;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.AdoptPeer;
import io.takofs.proto.DescribePeer;
import io.takofs.proto.NotCatalogLeader;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.proto.PeerDescription;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.RaftPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the peers that have the catalog: those of the servers that the list names first, three or
 * one.
 *
 * <p>The first of them begins the catalog, alone, when a majority of them says that it has none.
 * The peer that leads takes the others in, from one peer to three in one step, when all three
 * answer. A peer that has lost its directory is a new one, by its id: the leader takes it in, in
 * the place of the one at the same address, which is one step, too.
 *
 * <p>Thread rule: any thread that may wait.
 */
public final class CatalogPeer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogPeer.class);
  private static final long DESCRIBE_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long LATER_NS = TimeUnit.SECONDS.toNanos(5);

  private static final long COMPLAINT_NS = TimeUnit.MINUTES.toNanos(1);

  /** Looks after a start that follow soon upon each other. */
  private static final int SOON = 120;

  private final Settings settings;
  private final PeerConnections connections;
  private final SecureRandom random;
  private final Clock clock;
  private final PeerDirectory directory;
  private final Thread thread;
  private volatile RaftPart raft; // null of a peer of no catalog
  private volatile String waitsFor = "the server has just started";
  private volatile boolean closed;
  private String complaint = ""; // of the thread
  private boolean complained;
  private long complainedNs;

  /**
   * The place of a peer.
   *
   * @param directory on a disk, where it keeps its log
   * @param self its address
   * @param peers the addresses of all, itself among them; the first begins a catalog
   * @param mayFound whether it does: a server that was in a cluster must not begin another one
   */
  public record Settings(
      Path directory, String self, List<String> peers, BooleanSupplier mayFound) {
    public Settings {
      peers = List.copyOf(peers);
    }
  }

  /**
   * Starts it, in the background.
   *
   * @param connections to the other peers, which outlive this
   * @param clock of what this peer proposes
   * @throws IOException when the directory cannot be used
   */
  public CatalogPeer(
      Settings settings, PeerConnections connections, SecureRandom random, Clock clock)
      throws IOException {
    this.settings = settings;
    this.connections = connections;
    this.random = random;
    this.clock = clock;
    this.directory = PeerDirectory.open(settings.directory, random);
    try (Undo undo = new Undo()) {
      undo.add(directory);
      if (!directory.catalog().isEmpty()) {
        startWith(() -> {});
      }
      undo.keep();
    }
    connections.setLocal(settings.self, this::answer);
    thread = new Thread(this::run, "tako-catalog-peer");
    thread.setDaemon(true);
    thread.start();
  }

  // ---- what others ask --------------------------------------------------------------------------

  /**
   * Answers one call.
   *
   * @param limitNs that a change or a question may take
   * @throws TakoException UNAVAILABLE when it cannot, or the outcome is unknown
   */
  PeerAnswer answer(PeerCall call, long limitNs) throws TakoException {
    return switch (call.getCallCase()) {
      case DESCRIBE -> PeerAnswer.newBuilder().setDescription(description()).build();
      case ADOPT -> join(call.getAdopt().getCatalog());
      case FOUND -> foundAgain();
      default -> {
        RaftPart part = raft;
        yield part == null ? notYet() : part.answer(call, limitNs);
      }
    };
  }

  private PeerAnswer notYet() {
    return PeerAnswer.newBuilder()
        .setNotLeader(
            NotCatalogLeader.newBuilder()
                .setWhy(settings.self + " is not a peer of a catalog yet: " + waitsFor))
        .build();
  }

  private PeerDescription description() throws TakoException {
    PeerDescription.Builder description = PeerDescription.newBuilder().setId(directory.id());
    RaftPart part = raft;
    if (part == null) {
      return description.build();
    }
    return description
        .setCatalog(directory.catalog())
        .setLeader(part.leads())
        .setLeaderId(part.leader())
        .setVotes(part.votes())
        .build();
  }

  private synchronized PeerAnswer join(String catalog) throws TakoException {
    if (closed) {
      throw new TakoException(Status.UNAVAILABLE, settings.self + " stops");
    }
    if (raft == null) {
      startWith(() -> directory.join(catalog));
      Facts.of("catalog", catalog).info(LOG, "this server is taken in as a peer of the catalog");
    } else if (!directory.catalog().equals(catalog)) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          settings.self + " is a peer of another catalog, " + directory.catalog());
    }
    return PeerAnswer.newBuilder().setDone(true).build();
  }

  private PeerAnswer foundAgain() throws TakoException {
    List<PeerDescription> others = others();
    if (!directory.catalog().isEmpty() || hasCatalog(others)) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          "a peer has the catalog: nothing is lost that a copy could restore");
    }
    if (!isMajority(others)) {
      throw new TakoException(Status.UNAVAILABLE, notEnough(others));
    }
    found();
    return PeerAnswer.newBuilder().setDone(true).build();
  }

  /** A step that may fail. */
  private interface DirectoryChange {
    void make() throws IOException;
  }

  private void startWith(DirectoryChange change) throws TakoException {
    try {
      change.make();
      raft = RaftPart.start(directory, settings.self, connections, clock);
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the catalog's peer cannot use %s (%s): mend that, or move the directory away; the peer is a new one then, and the others take it in"
              .formatted(directory.path(), e),
          e);
    }
  }

  // ---- what it does by itself -------------------------------------------------------------------

  private void run() {
    for (int looks = 0; !closed; looks++) {
      boolean settled = false;
      complained = false;
      try {
        settled = raft == null ? begins() : leadsWell();
      } catch (IOException | RuntimeException e) {
        complain(e.getMessage() == null ? e.toString() : e.getMessage());
      }
      if (!complained) {
        complaint = "";
      }
      Clock.SYSTEM.pause(this, settled || looks > SOON ? LATER_NS : SOON_NS, () -> closed);
    }
  }

  /** Logs what is wrong, when something is, and once a minute. */
  private void complain(String text) {
    complained = true;
    long now = Clock.SYSTEM.nanoTime();
    if (!closed && (complaint.isEmpty() || now - complainedNs > COMPLAINT_NS)) {
      complaint = text;
      complainedNs = now;
      LOG.warn("the peers of the catalog are not as they should be: {}; it goes on trying", text);
    }
  }

  /** Looks whether this peer is to begin a catalog. */
  private boolean begins() throws TakoException {
    List<PeerDescription> others = others();
    if (hasCatalog(others)) {
      waitsFor = "the leader of the catalog will take it in";
    } else if (!settings.self.equals(settings.peers.get(0))) {
      waitsFor = settings.peers.get(0) + " begins the catalog, or its leader takes this peer in";
    } else if (!settings.mayFound.getAsBoolean()) {
      waitsFor =
          "this server was in a cluster, but no peer that answers ("
              + (1 + others.size())
              + " of "
              + settings.peers
              + ") has its catalog: start the others; if it is lost, `tako cluster"
              + " restore-catalog` makes it again from a copy";
      complain(waitsFor);
    } else if (!isMajority(others)) {
      waitsFor = notEnough(others);
    } else {
      found();
    }
    return false;
  }

  private static boolean hasCatalog(List<PeerDescription> others) {
    return others.stream().anyMatch(other -> !other.getCatalog().isEmpty());
  }

  private boolean isMajority(List<PeerDescription> others) {
    return 2 * (1 + others.size()) > settings.peers.size();
  }

  private String notEnough(List<PeerDescription> others) {
    return "a majority of "
        + settings.peers
        + " must answer and have no catalog; only "
        + (1 + others.size())
        + " answered";
  }

  private List<PeerDescription> others() {
    List<PeerDescription> others = new ArrayList<>();
    for (String address : settings.peers) {
      PeerDescription other = address.equals(settings.self) ? null : describe(address);
      if (other != null) {
        others.add(other);
      }
    }
    return others;
  }

  /** The peer at {@code address}; null when it does not answer. */
  private PeerDescription describe(String address) {
    PeerCall call = PeerCall.newBuilder().setDescribe(DescribePeer.getDefaultInstance()).build();
    try {
      return connections.ask(address, call, DESCRIBE_NS).getDescription();
    } catch (TakoException e) {
      if (e.status() == Status.PERMISSION_DENIED) {
        complain(e.getMessage());
      }
      return null;
    }
  }

  private synchronized void found() throws TakoException {
    if (raft == null && !closed) {
      String catalog = new UUID(random.nextLong(), random.nextLong()).toString();
      startWith(() -> directory.found(catalog));
      Facts.of("catalog", catalog).info(LOG, "no peer had a catalog: this one begins one");
    }
  }

  /**
   * Looks, at the leader, whether the peers of the catalog are those of the list.
   *
   * @return whether there is nothing to do for a while
   */
  private boolean leadsWell() throws IOException {
    RaftPart part = raft;
    if (!part.leads()) {
      return part.peers().size() >= settings.peers.size();
    }
    Collection<RaftPeer> now = part.peers();
    Map<String, RaftPeer> present = new HashMap<>();
    now.forEach(peer -> present.put(peer.getAddress(), peer));
    List<RaftPeer> next = new ArrayList<>();
    boolean replaced = false;
    for (String address : settings.peers) {
      RaftPeer former = present.get(address);
      RaftPeer wanted = replaced && former != null ? former : wanted(address, former);
      if (wanted == null) {
        return false; // from one peer to three in one step: two are worse than one
      }
      replaced |= former != null && !former.getId().equals(wanted.getId());
      next.add(wanted);
    }
    if (new HashSet<>(next).equals(new HashSet<>(now))) {
      return true;
    }
    for (RaftPeer peer : next) {
      if (!now.contains(peer) && !peer.getAddress().equals(settings.self)) {
        adopt(peer.getAddress());
      }
    }
    part.setPeers(now, next);
    Facts.of("peers", next).info(LOG, "the catalog has other peers");
    return true;
  }

  /** The peer that should be at {@code address}; null when nobody is known there. */
  private RaftPeer wanted(String address, RaftPeer former) {
    if (address.equals(settings.self)) {
      return peer(directory.id(), address);
    }
    PeerDescription there = describe(address);
    if (there == null) {
      return former;
    }
    if (!there.getCatalog().isEmpty() && !there.getCatalog().equals(directory.catalog())) {
      complain(
          address
              + " is a peer of another catalog, "
              + there.getCatalog()
              + ": if that is not wanted any more, move its directory away");
      return former;
    }
    return peer(there.getId(), address);
  }

  private static RaftPeer peer(String id, String address) {
    return RaftPeer.newBuilder().setId(id).setAddress(address).build();
  }

  private void adopt(String address) throws TakoException {
    PeerCall call =
        PeerCall.newBuilder()
            .setAdopt(AdoptPeer.newBuilder().setCatalog(directory.catalog()))
            .build();
    connections.ask(address, call, DESCRIBE_NS);
  }

  /** Stops; the catalog goes on at the other peers. */
  @Override
  public void close() throws IOException {
    closed = true;
    LockSupport.unpark(thread);
    thread.interrupt();
    Interrupts.join(thread);
    try (directory) {
      synchronized (this) {
        if (raft != null) {
          raft.close();
        }
      }
    }
  }
}
