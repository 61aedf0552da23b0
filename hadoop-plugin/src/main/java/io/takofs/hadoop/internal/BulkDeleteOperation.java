package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BulkDelete;
import org.apache.hadoop.fs.BulkDeleteUtils;
import org.apache.hadoop.fs.Path;

/**
 * Deletes files and empty directories below a directory, a page of them with one call or few; those
 * below others go first. Only for a Hadoop that has {@link BulkDelete}.
 *
 * <p>Thread rule: any thread.
 */
public final class BulkDeleteOperation implements BulkDelete {
  private static final int PAGE_SIZE = 256;

  private final TakoClient client;
  private final Path base;
  private final String baseName;

  public BulkDeleteOperation(TakoClient client, Path base) {
    this.client = client;
    this.base = base;
    this.baseName = PathNames.of(base);
  }

  @Override
  public int pageSize() {
    return PAGE_SIZE;
  }

  @Override
  public Path basePath() {
    return base;
  }

  @Override
  public List<Map.Entry<Path, String>> bulkDelete(Collection<Path> paths) throws IOException {
    BulkDeleteUtils.validateBulkDeletePaths(paths, PAGE_SIZE, base);
    Map<String, Path> byName = new LinkedHashMap<>();
    paths.stream()
        .sorted(Comparator.<Path, String>comparing(PathNames::of).reversed())
        .forEach(path -> byName.put(relative(path), path));
    List<Map.Entry<Path, String>> failed = new ArrayList<>();
    try {
      client
          .deleteFiles(baseName, List.copyOf(byName.keySet()))
          .forEach(
              (name, reason) ->
                  failed.add(new SimpleImmutableEntry<>(byName.get(name), text(reason))));
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, base.toString());
    }
    return failed;
  }

  private String relative(Path path) {
    String name = PathNames.of(path);
    if (name.length() == baseName.length()) {
      return "";
    }
    return name.substring(baseName.equals("/") ? 1 : baseName.length() + 1);
  }

  private static String text(Status reason) {
    return switch (reason) {
      case NOT_EMPTY -> "the directory is not empty; delete what is in it first";
      case PERMISSION_DENIED -> "permission denied";
      default -> reason.name();
    };
  }

  @Override
  public void close() {}
}
