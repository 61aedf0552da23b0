package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.Status;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** The URIs of servers, which are those of their file systems: {@code tako://host:port}. */
public final class ServerUri {
  /** Scheme of the URIs. */
  public static final String SCHEME = "tako";

  /** Port meant by a URI that names none. */
  public static final int DEFAULT_PORT = ConfigKeys.SERVER_PORT.defaultValue();

  private static final int PORT_MAX = 65535;

  private ServerUri() {}

  /**
   * Scheme, host and port of {@code text}, with the port always written and the host in lower case,
   * so that one server has one URI. The rest of {@code text} is ignored.
   *
   * @throws TakoException INVALID_ARGUMENT when it names no server
   */
  public static URI parse(String text) throws TakoException {
    int path = text.indexOf('/', text.indexOf("://") + "://".length());
    try {
      // Without the path, which may have characters that a URI must not.
      URI uri = new URI(path < 0 ? text : text.substring(0, path));
      boolean valid =
          SCHEME.equalsIgnoreCase(uri.getScheme())
              && uri.getHost() != null
              && uri.getUserInfo() == null
              && uri.getPort() <= PORT_MAX;
      if (valid) {
        int port = uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort();
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        return new URI(SCHEME, null, host, port, null, null, null);
      }
    } catch (URISyntaxException e) {
      // Said below.
    }
    throw new TakoException(
        Status.INVALID_ARGUMENT,
        "'"
            + text
            + "' names no server: write tako://host:port, port "
            + DEFAULT_PORT
            + " when left out");
  }
}
