package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.server.http.HttpEndpoint;
import io.takofs.server.http.ServerView;
import io.takofs.server.http.Site;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a server's pages at the configured address, with the permissions of the configured user.
 */
final class ServerPages {
  private static final Logger LOG = LoggerFactory.getLogger(ServerPages.class);
  private static final String AUTO = "auto";
  private static final int PORT_MAX = 65535;

  private ServerPages() {}

  /**
   * Listens; null when the configuration turns it off.
   *
   * @param uri of the server
   * @param user who runs it
   * @throws TakoException UNAVAILABLE when it cannot listen at the address that was configured
   */
  static HttpEndpoint open(ServerView server, URI uri, TakoConfig config, String user)
      throws TakoException {
    String address = config.get(ConfigKeys.HTTP_ADDRESS);
    if (address.isEmpty()) {
      return null;
    }
    Site site = new Site(server, uri, config, pageUser(config, user), Clock.SYSTEM);
    String serverHost = config.get(ConfigKeys.SERVER_HOST);
    if (address.equals(AUTO)) {
      return besideServer(serverHost, config.get(ConfigKeys.SERVER_PORT), site);
    }
    int colon = address.lastIndexOf(':');
    String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
    int port = Integer.parseInt(address.substring(colon + 1));
    return listen(host.isEmpty() ? serverHost : host, port, site);
  }

  /** At the port above the server's; where that is taken, or the server took any, at any. */
  private static HttpEndpoint besideServer(String host, int serverPort, Site site)
      throws TakoException {
    if (serverPort > 0 && serverPort < PORT_MAX) {
      try {
        return HttpEndpoint.listen(host, serverPort + 1, site);
      } catch (IOException e) {
        LOG.info("{}; the server's pages take a free port", e.getMessage());
      }
    }
    return listen(host, 0, site);
  }

  private static HttpEndpoint listen(String host, int port, Site site) throws TakoException {
    try {
      return HttpEndpoint.listen(host, port, site);
    } catch (IOException e) {
      throw ListenFailure.of(
          e,
          "set " + ConfigKeys.HTTP_ADDRESS + " to an address of this machine, or to nothing",
          "stop what listens there, or set "
              + ConfigKeys.HTTP_ADDRESS
              + " to a free address of this machine, or to nothing");
    }
  }

  private static Optional<String> pageUser(TakoConfig config, String user) {
    String configured = config.get(ConfigKeys.HTTP_USER);
    if (!configured.isEmpty()) {
      return Optional.of(configured);
    }
    return config.get(ConfigKeys.PERMISSIONS_ENABLED) ? Optional.empty() : Optional.of(user);
  }
}
