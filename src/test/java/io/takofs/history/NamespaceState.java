package io.takofs.history;

import io.takofs.history.CallResult.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A small flat namespace: which file is at which path, and whether that has its bytes. Immutable.
 *
 * @param files in the order of their paths
 */
record NamespaceState(List<ModelFile> files) {
  static final NamespaceState EMPTY = new NamespaceState(List.of());

  /**
   * A file.
   *
   * @param content that it has or will have
   * @param length bytes of that
   * @param written whether it has it; else it has no bytes
   */
  record ModelFile(String path, long content, long length, boolean written) {
    ModelFile at(String another) {
      return new ModelFile(another, content, length, written);
    }

    ModelFile withBytes() {
      return new ModelFile(path, content, length, true);
    }

    private long bytes() {
      return written ? length : 0;
    }
  }

  ModelFile find(String path) {
    return files.stream().filter(file -> file.path().equals(path)).findFirst().orElse(null);
  }

  private ModelFile find(long content) {
    return files.stream().filter(file -> file.content() == content).findFirst().orElse(null);
  }

  private NamespaceState without(String path) {
    return new NamespaceState(files.stream().filter(file -> !file.path().equals(path)).toList());
  }

  private NamespaceState with(ModelFile added) {
    List<ModelFile> all = new ArrayList<>(without(added.path()).files);
    all.add(added);
    all.sort(Comparator.comparing(ModelFile::path));
    return new NamespaceState(List.copyOf(all));
  }

  /**
   * What there is after {@code call}, if it happens now with {@code result}; empty if it could not
   * have had that. A call of unknown outcome is taken as done, so it is empty when it would be
   * refused.
   */
  Optional<NamespaceState> after(NamespaceCall call, CallResult result) {
    ModelFile found = find(call.path());
    Outcome outcome = result.outcome() == Outcome.UNKNOWN ? Outcome.OK : result.outcome();
    return switch (call.action()) {
      case CREATE -> afterCreate(call, found, outcome);
      case WRITE -> afterWrite(call, outcome);
      case READ -> sameIf(isAsRead(found, outcome, result.content()));
      case STAT -> sameIf(isAsSeen(found, outcome, result));
      case DELETE ->
          outcome == Outcome.ABSENT
              ? sameIf(found == null)
              : Optional.ofNullable(found).map(file -> without(file.path()));
      case RENAME -> afterRename(call, found, outcome);
    };
  }

  private Optional<NamespaceState> sameIf(boolean condition) {
    return condition ? Optional.of(this) : Optional.empty();
  }

  private Optional<NamespaceState> afterCreate(
      NamespaceCall call, ModelFile found, Outcome outcome) {
    return switch (outcome) {
      case EXISTS -> sameIf(!call.overwrite() && found != null);
      case HELD -> sameIf(!call.overwrite() && found != null && !found.written());
      default ->
          found != null && !call.overwrite()
              ? Optional.empty()
              : Optional.of(with(new ModelFile(call.path(), call.content(), call.length(), false)));
    };
  }

  /**
   * It finds its file wherever that was renamed to. It is lost without the file, and when the lease
   * on the file was: then nothing will be written.
   */
  private Optional<NamespaceState> afterWrite(NamespaceCall call, Outcome outcome) {
    ModelFile found = find(call.content());
    if (outcome == Outcome.LOST) {
      return sameIf(found == null || !found.written());
    }
    return found == null || found.written()
        ? Optional.empty()
        : Optional.of(with(found.withBytes()));
  }

  private Optional<NamespaceState> afterRename(
      NamespaceCall call, ModelFile found, Outcome outcome) {
    boolean isInTheWay = find(call.target()) != null && !call.overwrite();
    return switch (outcome) {
      case ABSENT -> sameIf(found == null);
      case EXISTS -> sameIf(found != null && isInTheWay);
      default ->
          found == null || isInTheWay
              ? Optional.empty()
              : Optional.of(without(call.path()).with(found.at(call.target())));
    };
  }

  private static boolean isAsRead(ModelFile found, Outcome outcome, long content) {
    if (found == null || outcome == Outcome.ABSENT) {
      return found == null && outcome == Outcome.ABSENT;
    }
    return content == (found.written() ? found.content() : 0);
  }

  /** A file that was never written is open until its writer's lease ends, whenever that is. */
  private static boolean isAsSeen(ModelFile found, Outcome outcome, CallResult seen) {
    if (found == null || outcome == Outcome.ABSENT) {
      return found == null && outcome == Outcome.ABSENT;
    }
    return seen.length() == found.bytes() && !(seen.open() && found.written());
  }

  @Override
  public String toString() {
    return files.stream()
        .map(
            file ->
                "%s (%d%s)".formatted(file.path(), file.content(), file.written() ? "" : ", empty"))
        .collect(Collectors.joining(", ", "{", "}"));
  }
}
