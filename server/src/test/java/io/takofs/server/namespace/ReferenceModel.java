package io.takofs.server.namespace;

import com.google.protobuf.ByteString;
import io.takofs.proto.Extent;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A second and simplest possible model of a file system: a tree of objects, for a superuser. Each
 * operation returns the status it must have.
 */
final class ReferenceModel {
  /** A file or a directory. */
  static final class Node {
    final boolean directory;
    TreeMap<String, Node> children = new TreeMap<>();
    List<Extent> extents = new ArrayList<>();
    ByteString inline = ByteString.EMPTY;
    long length;

    /** Client that has it open, and under which lease; 0 for none. */
    long writer;

    long epoch;

    /** The offsets of extents that get no more bytes. */
    Set<Long> sealed = new HashSet<>();

    Node(boolean directory) {
      this.directory = directory;
    }

    /** The last extent if it may get more bytes, or null. */
    Extent growing() {
      Extent last = extents.isEmpty() ? null : extents.get(extents.size() - 1);
      boolean grows =
          last != null
              && last.getLength() < last.getCapacity()
              && !sealed.contains(last.getFileOffset());
      return grows ? last : null;
    }

    void seal() {
      if (growing() != null) {
        sealed.add(growing().getFileOffset());
      }
    }
  }

  /** The existing part of a path. */
  private record Found(List<Node> nodes, String[] names) {
    Node last() {
      return nodes.get(nodes.size() - 1);
    }

    int missing() {
      return names.length + 1 - nodes.size();
    }

    Node parent() {
      return nodes.get(names.length - 1);
    }

    String name() {
      return names[names.length - 1];
    }
  }

  private static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    final Status status;

    Refused(Status status) {
      super(status.name());
      this.status = status;
    }
  }

  @FunctionalInterface
  private interface Operation {
    void run() throws Refused;
  }

  final Node root = new Node(true);

  /** Files by id, for what is done by id. */
  final Map<Long, Node> files = new HashMap<>();

  private static Status status(Operation operation) {
    try {
      operation.run();
      return Status.OK;
    } catch (Refused e) {
      return e.status;
    }
  }

  private static void refuseIf(boolean condition, Status status) throws Refused {
    if (condition) {
      throw new Refused(status);
    }
  }

  private Found find(String path) throws Refused {
    String[] names = path.equals("/") ? new String[0] : path.substring(1).split("/", -1);
    List<Node> nodes = new ArrayList<>(List.of(root));
    for (String name : names) {
      Node at = nodes.get(nodes.size() - 1);
      refuseIf(!at.directory, Status.NOT_A_DIRECTORY);
      Node next = at.children.get(name);
      if (next == null) {
        break;
      }
      nodes.add(next);
    }
    return new Found(nodes, names);
  }

  /** The node at {@code path}, or null. */
  Node get(String path) {
    try {
      Found found = find(path);
      return found.missing() == 0 ? found.last() : null;
    } catch (Refused e) {
      return null;
    }
  }

  Status stat(String path) {
    return status(() -> refuseIf(find(path).missing() > 0, Status.NOT_FOUND));
  }

  Status mkdirs(String path) {
    return status(
        () -> {
          Found found = find(path);
          if (found.missing() == 0) {
            refuseIf(!found.last().directory, Status.ALREADY_EXISTS);
            return;
          }
          refuseIf(!found.last().directory, Status.NOT_A_DIRECTORY);
          make(found, found.names.length);
        });
  }

  private static Node make(Found found, int depth) {
    Node at = found.last();
    for (int i = found.nodes.size() - 1; i < depth; i++) {
      Node made = new Node(true);
      at.children.put(found.names[i], made);
      at = made;
    }
    return at;
  }

  Status create(long client, String path, boolean overwrite, boolean parents, Node file) {
    return status(
        () -> {
          Found found = find(path);
          if (found.missing() == 0) {
            Node old = found.last();
            refuseIf(old.directory, Status.ALREADY_EXISTS);
            if (!overwrite) {
              boolean busy = old.writer != 0 && old.writer != client;
              throw new Refused(busy ? Status.LEASE_HELD : Status.ALREADY_EXISTS);
            }
            old.writer = 0;
          }
          refuseIf(found.missing() > 1 && !parents, Status.NOT_FOUND);
          refuseIf(found.missing() > 0 && !found.last().directory, Status.NOT_A_DIRECTORY);
          Node parent = found.missing() > 1 ? make(found, found.names.length - 1) : found.parent();
          file.writer = client;
          parent.children.put(found.name(), file);
        });
  }

  Status append(long client, String path) {
    return status(
        () -> {
          Node file = existingFile(path);
          refuseIf(file.writer != 0, Status.LEASE_HELD);
          file.writer = client;
        });
  }

  private Node existingFile(String path) throws Refused {
    Found found = find(path);
    refuseIf(found.missing() > 0, Status.NOT_FOUND);
    refuseIf(found.last().directory, Status.IS_A_DIRECTORY);
    return found.last();
  }

  Status recoverLease(String path) {
    return status(
        () -> {
          Node file = existingFile(path);
          if (file.writer != 0) {
            file.writer = 0;
            file.seal();
          }
        });
  }

  Status delete(String path, boolean recursive) {
    return status(
        () -> {
          refuseIf(path.equals("/"), Status.INVALID_ARGUMENT);
          Found found = find(path);
          refuseIf(found.missing() > 0, Status.NOT_FOUND);
          refuseIf(!found.last().children.isEmpty() && !recursive, Status.NOT_EMPTY);
          found.parent().children.remove(found.name());
          closeAll(found.last());
        });
  }

  /** A deleted file has no writer. */
  private static void closeAll(Node node) {
    node.writer = 0;
    node.children.values().forEach(ReferenceModel::closeAll);
  }

  Status rename(String source, String target, boolean overwrite) {
    return status(
        () -> {
          refuseIf(source.equals("/"), Status.INVALID_ARGUMENT);
          Found from = find(source);
          refuseIf(from.missing() > 0, Status.NOT_FOUND);
          refuseIf(source.equals(target), Status.ALREADY_EXISTS);
          refuseIf(target.equals("/") || target.startsWith(source + "/"), Status.INVALID_ARGUMENT);
          Found to = find(target);
          refuseIf(to.missing() > 1, Status.NOT_FOUND);
          refuseIf(!to.parent().directory, Status.NOT_A_DIRECTORY);
          Node moved = from.last();
          if (to.missing() == 0) {
            Node old = to.last();
            refuseIf(!overwrite, Status.ALREADY_EXISTS);
            refuseIf(moved.directory && !old.directory, Status.NOT_A_DIRECTORY);
            refuseIf(!moved.directory && old.directory, Status.IS_A_DIRECTORY);
            refuseIf(!old.children.isEmpty(), Status.NOT_EMPTY);
            old.writer = 0;
          }
          from.parent().children.remove(from.name());
          to.parent().children.put(to.name(), moved);
        });
  }

  /** The data of {@code source} belongs to {@code target}, after its own. */
  void join(Node target, Node source) {
    for (Extent extent : source.extents) {
      if (source.sealed.contains(extent.getFileOffset())) {
        target.sealed.add(target.length + extent.getFileOffset());
      }
      target.extents.add(
          extent.toBuilder().setFileOffset(target.length + extent.getFileOffset()).build());
    }
    target.length += source.length;
  }

  /** The path of {@code node}, or null. */
  String pathOf(Node node) {
    return pathOf(node, "", root);
  }

  private static String pathOf(Node node, String path, Node at) {
    if (at == node) {
      return path;
    }
    for (Map.Entry<String, Node> child : at.children.entrySet()) {
      String found = pathOf(node, path + "/" + child.getKey(), child.getValue());
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The session of {@code client} is over. */
  void expire(long client) {
    for (Node file : files.values()) {
      if (file.writer == client) {
        file.writer = 0;
        file.seal();
      }
    }
  }
}
