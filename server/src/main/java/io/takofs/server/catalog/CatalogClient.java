package io.takofs.server.catalog;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ConfigStore.Value;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads and changes the values of a cluster in its catalog: the map, the version of the protocol,
 * the keys that servers sign with, and a session of each server that lives.
 *
 * <p>Thread rule: any thread that may wait for the catalog.
 */
public final class CatalogClient {
  private static final String MAP = "map";
  private static final String PROTOCOL = "protocol";
  private static final String KEYS = "keys";
  private static final int ATTEMPTS = 50;

  private final ConfigStore store;

  /** A change of a map; it may be called more than once. */
  @FunctionalInterface
  public interface MapChange {
    /** The next map; {@code map} itself when there is nothing to change. */
    ClusterMap apply(ClusterMap map) throws TakoException;
  }

  /** The cluster in {@code store}, which stays its owner's. */
  public CatalogClient(ConfigStore store) {
    this.store = store;
  }

  /** The map; null when the catalog is empty. */
  public ClusterMap map() throws TakoException {
    return map(store.get(MAP));
  }

  private static ClusterMap map(Value value) throws TakoException {
    return value.isPresent() ? Membership.decode(value.bytes()) : null;
  }

  /**
   * The values that every server wants again and again.
   *
   * @param map null when the catalog is empty
   * @param copy of what outlives the servers
   */
  record News(ClusterMap map, ClusterKeys keys, CatalogState copy) {}

  /** As {@link ConfigStore#answersWithin}. */
  boolean answersWithin(Duration limit) {
    return store.answersWithin(limit);
  }

  /** Reads map and keys, by one question. */
  News news() throws TakoException {
    Map<String, Value> values = new TreeMap<>(store.values());
    values.keySet().retainAll(List.of(MAP, PROTOCOL, KEYS));
    return news(CatalogState.of(values));
  }

  /** Map and keys of a copy. */
  static News news(CatalogState copy) throws TakoException {
    ClusterMap map = map(copy.get(MAP));
    return new News(map, map == null ? ClusterKeys.NONE : keys(copy.get(KEYS)), copy);
  }

  /**
   * Makes a lost catalog again from a copy of it.
   *
   * @return the map as it is now
   * @throws TakoException ALREADY_EXISTS when there is a catalog; INVALID_ARGUMENT when the copy
   *     has no map
   */
  public ClusterMap restore(CatalogState copy) throws TakoException {
    News news = news(copy);
    if (news.map == null) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "the copy has no map of a cluster: name a server's copy");
    }
    ClusterMap map = ClusterMaps.restored(news.map);
    Map<String, Value> values = new TreeMap<>(copy.values());
    values.put(MAP, new Value(copy.get(MAP).version(), map.toByteArray()));
    if (!store.restore(CatalogState.of(values))) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          "the catalog (%s) is not empty: `tako cluster status` shows it"
              .formatted(store.description()));
    }
    return map;
  }

  /**
   * The map of a cluster that must be there.
   *
   * @throws TakoException NOT_FOUND when the catalog is empty
   */
  public ClusterMap requireMap() throws TakoException {
    ClusterMap map = map();
    if (map == null) {
      throw empty();
    }
    return map;
  }

  private TakoException empty() {
    return new TakoException(
        Status.NOT_FOUND,
        "the catalog (%s) is empty: start the first server of fs.tako.cluster.servers"
            .formatted(store.description()));
  }

  /**
   * Makes the catalog of a new cluster.
   *
   * @throws TakoException ALREADY_EXISTS when there is one
   */
  public void init(ClusterMap map) throws TakoException {
    // The map comes last: where it is, all of it is.
    store.compareAndSet(PROTOCOL, store.get(PROTOCOL).version(), protocol());
    if (!store.get(KEYS).isPresent()) {
      store.compareAndSet(
          KEYS, ConfigStore.ABSENT, ClusterKeys.NONE.rotate(new SecureRandom()).encode());
    }
    if (store.compareAndSet(MAP, ConfigStore.ABSENT, map.toByteArray()) == ConfigStore.LOST) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          "the catalog (%s) has cluster %s already: `tako cluster status` shows it"
              .formatted(store.description(), map().getName()));
    }
  }

  /**
   * Changes the map.
   *
   * @throws TakoException that {@code change} throws; NOT_FOUND when the catalog is empty
   */
  public ClusterMap change(MapChange change) throws TakoException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Value value = store.get(MAP);
      if (!value.isPresent()) {
        throw empty();
      }
      ClusterMap map = Membership.decode(value.bytes());
      ClusterMap next = change.apply(map);
      if (next.equals(map)
          || store.compareAndSet(MAP, value.version(), next.toByteArray()) != ConfigStore.LOST) {
        return next;
      }
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "the catalog's map was changed by others " + ATTEMPTS + " times meanwhile: try again");
  }

  private static byte[] protocol() {
    return Integer.toString(Layout.PROTOCOL_VERSION).getBytes(StandardCharsets.US_ASCII);
  }

  /** Checks that servers of this protocol made the cluster. */
  void checkProtocol() throws TakoException {
    String theirs = new String(store.get(PROTOCOL).bytes(), StandardCharsets.US_ASCII);
    if (!theirs.equals(Integer.toString(Layout.PROTOCOL_VERSION))) {
      throw new TakoException(
          Status.VERSION_MISMATCH,
          "the cluster's servers speak protocol %s, this one %d: run the same version of Tako"
              .formatted(theirs, Layout.PROTOCOL_VERSION));
    }
  }

  /** The keys that servers sign with. */
  public ClusterKeys keys() throws TakoException {
    return keys(store.get(KEYS));
  }

  private static ClusterKeys keys(Value value) throws TakoException {
    try {
      if (!value.isPresent()) {
        throw new IOException("there are none");
      }
      return ClusterKeys.decode(value.bytes());
    } catch (IOException e) {
      throw new TakoException(Status.CORRUPT, "the catalog's keys cannot be read: " + e, e);
    }
  }

  /** Makes a new current key; tickets of the one before the former are no good any more. */
  public ClusterKeys rotateKeys(SecureRandom random) throws TakoException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Value value = store.get(KEYS);
      ClusterKeys next = keys().rotate(random);
      if (store.compareAndSet(KEYS, value.version(), next.encode()) != ConfigStore.LOST) {
        return next;
      }
    }
    throw new TakoException(Status.UNAVAILABLE, "others rotate the keys as well: try again");
  }

  static String sessionKey(int server) {
    return "session/" + server;
  }

  /** Whether a server holds its session. */
  public boolean lives(int server) throws TakoException {
    return holder(server).isPresent();
  }

  /** The address of the process that holds a server's session; empty when none does. */
  Optional<String> holder(int server) throws TakoException {
    return holder(store.get(sessionKey(server)));
  }

  /** A session's value is {@code address incarnation}. */
  private static Optional<String> holder(Value session) {
    return session.isPresent()
        ? Optional.of(new String(session.bytes(), StandardCharsets.UTF_8).split(" ", -1)[0])
        : Optional.empty();
  }

  /**
   * Takes a session, from the server's former incarnation if it has it still.
   *
   * @throws TakoException ALREADY_EXISTS when a server at another address has it; UNAVAILABLE when
   *     another process took it meanwhile
   */
  long openSession(String key, Registration me, Duration ttl) throws TakoException {
    Value former = store.get(key);
    ClusterMaps.checkHolder(holder(former), me);
    byte[] bytes = (me.address() + " " + me.entry().getEpoch()).getBytes(StandardCharsets.UTF_8);
    long version = store.compareAndSet(key, former.version(), bytes, ttl);
    if (version == ConfigStore.LOST) {
      ClusterMaps.checkHolder(holder(store.get(key)), me);
      throw new TakoException(
          Status.UNAVAILABLE, key + " was taken by another process of this server meanwhile");
    }
    return version;
  }

  boolean renew(String key, long version) throws TakoException {
    return store.renew(key, version);
  }

  void close(String key, long version) throws TakoException {
    store.remove(key, version);
  }

  long currentTimeMillis() throws TakoException {
    return store.currentTimeMillis();
  }

  String description() {
    return store.description();
  }
}
