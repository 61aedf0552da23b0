package io.takofs.hadoop;

import io.takofs.config.ConfigKeys;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** The URIs of Tako file systems: {@code tako://host:port}. */
final class TakoUris {
  static final String SCHEME = "tako";

  /** Port meant by a URI that names none. */
  static final int DEFAULT_PORT = ConfigKeys.SERVER_PORT.defaultValue();

  private TakoUris() {}

  /**
   * Scheme, host and port of {@code uri}, with the port always written and the host in lower case,
   * so that one file system has one URI.
   *
   * @throws IOException when it names no host
   */
  static URI canonical(URI uri) throws IOException {
    if (!SCHEME.equalsIgnoreCase(uri.getScheme())) {
      throw new IOException(uri + ": the scheme is not " + SCHEME);
    }
    if (uri.getHost() == null) {
      throw new IOException(
          uri
              + ": names no host; write "
              + SCHEME
              + "://host:port/, port "
              + DEFAULT_PORT
              + " when left out");
    }
    int port = uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort();
    try {
      return new URI(SCHEME, null, uri.getHost().toLowerCase(Locale.ROOT), port, null, null, null);
    } catch (URISyntaxException e) {
      throw new IOException(uri + ": " + e.getMessage(), e);
    }
  }
}
