package io.takofs.hadoop.internal;

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
    String prefix = PathNames.text(directory) + "/";
    this.base = directory.isRoot() ? uri.resolve("/") : uri(uri, prefix);
  }

  /** The path of an entry, equal to one that was parsed; good for names that look like a URI. */
  Path of(String name) {
    if (name.indexOf(':') >= 0) {
      return new Path(uri(base, base.getPath() + name));
    }
    try {
      // Quoting a name that needs no escape takes as long as parsing it.
      URI relative = isPlain(name) ? new URI(name) : new URI(null, null, name, null);
      return new Path(base.resolve(relative));
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("'" + name + "' in " + directory, e);
    }
  }

  /** Returns true if the name needs no escape in a URI; most names need none. */
  private static boolean isPlain(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= '0' && c <= '9')
              || (c >= 'A' && c <= 'Z')
              || c == '-'
              || c == '_'
              || c == '.';
      if (!plain) {
        return false;
      }
    }
    return true;
  }

  private static URI uri(URI server, String path) {
    try {
      return new URI(server.getScheme(), server.getAuthority(), path, null, null);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(path, e);
    }
  }
}
