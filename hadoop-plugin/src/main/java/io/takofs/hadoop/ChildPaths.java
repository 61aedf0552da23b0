package io.takofs.hadoop;

import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.fs.Path;

/**
 * Paths of a directory's entries. The directory is parsed once and not for each entry, which is
 * what listing a large directory would spend most of its time with.
 *
 * <p>Thread rule: any thread.
 */
final class ChildPaths {
  private final Path directory;
  private final URI base;

  /**
   * Of the entries of a directory.
   *
   * @param directory a qualified path
   */
  ChildPaths(Path directory) {
    this.directory = directory;
    URI uri = directory.toUri();
    String prefix = directory.isRoot() ? "/" : uri.getPath() + "/";
    this.base = directory.isRoot() ? uri.resolve("/") : uri(uri, prefix);
  }

  /** The path of an entry, equal to one that was parsed; good for names that look like a URI. */
  Path of(String name) {
    if (name.indexOf(':') >= 0) {
      return new Path(uri(base, base.getPath() + name));
    }
    try {
      return new Path(base.resolve(new URI(null, null, name, null)));
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("'" + name + "' in " + directory, e);
    }
  }

  private static URI uri(URI server, String path) {
    try {
      return new URI(server.getScheme(), server.getAuthority(), path, null, null);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(path, e);
    }
  }
}
