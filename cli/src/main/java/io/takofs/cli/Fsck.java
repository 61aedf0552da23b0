package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.BlockPlaces;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.config.ServerList;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.Status;
import io.takofs.server.report.Sizes;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads files to verify them. Of each directory between the first and the present one it holds one
 * page of entries, and of files one buffer.
 *
 * <p>Thread rule: one thread.
 */
final class Fsck {
  private final TakoClient client;
  private final PrintWriter out;
  private final boolean nameFiles;
  private final boolean nameOpen;
  private final boolean showLocations;
  private final byte[] buffer = new byte[1 << 20];
  private String start;
  private long directories;
  private long files;
  private long bytes;
  private long open;
  private long corrupt;
  private long unreadable;
  private long fewer; // files some bytes of which have fewer copies than they are to have
  private Set<Integer> away = Set.of(); // servers that do not answer, by number
  private boolean isAlone;

  /**
   * A check that is about to begin.
   *
   * @param nameFiles whether it names every file
   * @param nameOpen whether it names files open for writing
   * @param showLocations whether it names every file, and the servers that have its bytes
   */
  Fsck(
      TakoClient client,
      PrintWriter out,
      boolean nameFiles,
      boolean nameOpen,
      boolean showLocations) {
    this.client = client;
    this.out = out;
    this.nameFiles = nameFiles || showLocations;
    this.nameOpen = nameOpen;
    this.showLocations = showLocations;
  }

  /** Whether all that was there could be read and is what was written. */
  boolean isHealthy() {
    return corrupt == 0 && unreadable == 0;
  }

  /** Checks what is at and below {@code path}; what goes away meanwhile is passed over. */
  void check(String path) throws TakoException {
    start = path;
    isAlone = client.isAlone();
    away = isAlone ? Set.of() : serversAway();
    PathStatus status = client.getStatus(path);
    if (!status.directory()) {
      file(status);
      return;
    }
    Deque<DirectoryIterator> walk = new ArrayDeque<>();
    enter(path, walk);
    while (!walk.isEmpty()) {
      PathStatus entry = next(walk);
      if (entry != null && entry.directory()) {
        enter(entry.path(), walk);
      } else if (entry != null) {
        file(entry);
      }
    }
  }

  /** The next entry of the present directory; null when it has none, and is left. */
  private PathStatus next(Deque<DirectoryIterator> walk) throws TakoException {
    try {
      if (walk.element().hasNext()) {
        return walk.element().next();
      }
    } catch (TakoException e) {
      passOver("a directory that was being listed", e);
    }
    walk.remove();
    return null;
  }

  private void enter(String path, Deque<DirectoryIterator> walk) throws TakoException {
    try {
      walk.push(client.list(path));
      directories++;
    } catch (TakoException e) {
      passOver(path, e);
    }
  }

  private void file(PathStatus file) throws TakoException {
    String state = "OK";
    boolean isThere = true;
    try (TakoInputStream in = client.open(file.path())) {
      files++;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        bytes += count;
      }
    } catch (TakoException e) {
      state = e.status().name();
      isThere = e.status() == Status.CORRUPT;
      passOver(file.path(), e);
    }
    List<BlockPlaces> blocks = isThere && (!isAlone || showLocations) ? blocks(file) : List.of();
    if (!isAlone && blocks.stream().anyMatch(block -> hasFewer(block, file.replication()))) {
      fewer++;
      state += ", fewer than " + file.replication() + " copies";
    }
    if (file.underConstruction()) {
      open++;
      state += ", open for writing";
    }
    if (nameFiles || (nameOpen && file.underConstruction())) {
      out.println(file.path() + " " + file.length() + " bytes: " + state);
    }
    if (showLocations && isThere) {
      out.println("  replication " + file.replication());
      for (BlockPlaces block : blocks) {
        out.printf("  offset %d, %d bytes: %s%n", block.offset(), block.length(), copies(block));
      }
    }
  }

  private List<BlockPlaces> blocks(PathStatus file) throws TakoException {
    try {
      return client.blockPlaces(file.path(), 0, Long.MAX_VALUE, file.blockSize());
    } catch (TakoException e) {
      passOver(file.path(), e);
      return List.of();
    }
  }

  /** Whether bytes of {@code block} lack copies; one on a server that is away does not count. */
  private boolean hasFewer(BlockPlaces block, int replication) {
    return !block.inMetadata()
        && (block.copies() < replication
            || block.hosts().stream().anyMatch(host -> away.contains(host.server())));
  }

  private Set<Integer> serversAway() throws TakoException {
    ClusterStatus status = client.administration().clusterStatus();
    return status.getServersList().stream()
        .filter(server -> server.getEntry().getId() != status.getLeader()) // which has answered
        .filter(server -> !server.getTrouble().isEmpty())
        .map(server -> server.getEntry().getId())
        .collect(Collectors.toSet());
  }

  /** Names the servers that have copies of a block. A server alone has one copy of each. */
  private String copies(BlockPlaces block) {
    if (block.inMetadata()) {
      return "in the metadata";
    }
    if (isAlone) {
      return "1 copy on " + client.uri().getAuthority();
    }
    String servers =
        block.hosts().stream()
            .map(host -> ServerList.address(host.host(), host.port()))
            .collect(Collectors.joining(", "));
    return block.copies() + (block.copies() == 1 ? " copy on " : " copies on ") + servers;
  }

  /** Goes on after what concerns one path alone. */
  private void passOver(String path, TakoException failure) throws TakoException {
    switch (failure.status()) {
      case NOT_FOUND, NOT_A_DIRECTORY, IS_A_DIRECTORY -> {
        // It went away, or became something else, since it was listed.
      }
      case CORRUPT -> {
        corrupt++;
        out.println(path + ": CORRUPT: " + failure.getMessage());
      }
      case PERMISSION_DENIED -> {
        unreadable++;
        out.println(path + ": " + failure.getMessage());
      }
      default -> throw failure;
    }
  }

  void printSummary() {
    out.printf(
        "checked           %s: %d directories, %d files, %s%n",
        start, directories, files, Sizes.human(bytes));
    out.println("open for writing  " + open);
    out.println("with fewer copies " + fewer);
    out.println("corrupt           " + corrupt);
    out.println("not permitted     " + unreadable);
    out.println(
        "status            "
            + (isHealthy() ? "HEALTHY" : corrupt > 0 ? "CORRUPT" : "NOT ALL CHECKED"));
  }
}
