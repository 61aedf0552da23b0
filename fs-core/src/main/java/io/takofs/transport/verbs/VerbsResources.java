package io.takofs.transport.verbs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open objects of a device. Closes them in the order that verbs demand: users before the
 * objects they use.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsResources {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsResources.class);

  /** Kinds in the order in which they are closed. */
  enum Kind {
    LISTENER,
    CONNECTION,
    COMPLETIONS,
    CHANNEL,
    REGISTRATION,
    DOMAIN
  }

  private final Map<Kind, Set<AutoCloseable>> open = new EnumMap<>(Kind.class);

  VerbsResources() {
    for (Kind kind : Kind.values()) {
      open.put(kind, Collections.newSetFromMap(new IdentityHashMap<>()));
    }
  }

  synchronized void add(Kind kind, AutoCloseable resource) {
    open.get(kind).add(resource);
  }

  /** False if it was not there: then it is closed already. */
  synchronized boolean remove(Kind kind, AutoCloseable resource) {
    return open.get(kind).remove(resource);
  }

  void closeAll() {
    for (Kind kind : Kind.values()) {
      for (AutoCloseable resource : openOf(kind)) {
        try {
          resource.close();
        } catch (Exception e) { // close() of any kind: the others are to be closed all the same
          LOG.error("{} could not be closed and stays with the device", kind, e);
        }
      }
    }
  }

  private synchronized List<AutoCloseable> openOf(Kind kind) {
    return new ArrayList<>(open.get(kind));
  }

  /** Fails if {@code result} of a destroying verb is not 0: something still uses the object. */
  static void checkDestroyed(int result, String what) {
    if (result != 0) {
      throw new IllegalStateException(
          what + " could not be destroyed, errno " + -result + ": close what uses it first");
    }
  }
}
