package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The servers that a URI means. {@code tako://host:port} is a server; {@code tako://NAME} is the
 * cluster NAME when the configuration has {@code fs.tako.cluster.NAME.servers}, else the server of
 * that host. So is {@code tako://NAME:7420}: Hadoop's file contexts write the default port.
 */
public final class ClusterUri {
  private static final String DEFAULT_PORT = ":" + ServerUri.DEFAULT_PORT;

  private ClusterUri() {}

  /** Whether {@code uri} names a cluster. */
  public static boolean isCluster(URI uri, TakoConfig config) {
    return ServerUri.SCHEME.equalsIgnoreCase(uri.getScheme())
        && !config.clusterServers(name(uri)).isEmpty();
  }

  /** Its host, or all of its authority where that is none for Java, as with an underscore. */
  private static String name(URI uri) {
    String authority = uri.getAuthority();
    if (authority == null) {
      return "";
    }
    boolean port = authority.endsWith(DEFAULT_PORT);
    return authority.substring(0, authority.length() - (port ? DEFAULT_PORT.length() : 0));
  }

  /**
   * The one URI of a file system, without a path: {@code tako://NAME} of a cluster, {@code
   * tako://host:port} of a server.
   *
   * @throws TakoException INVALID_ARGUMENT when it names neither
   */
  public static URI canonical(URI uri, TakoConfig config) throws TakoException {
    if (!isCluster(uri, config)) {
      return single(uri.toString());
    }
    return URI.create(ServerUri.SCHEME + "://" + name(uri).toLowerCase(Locale.ROOT));
  }

  /** The same of a text, whose path may have characters that a URI must not. */
  public static URI parse(String text, TakoConfig config) throws TakoException {
    int path = text.indexOf('/', text.indexOf("://") + "://".length());
    try {
      return canonical(new URI(path < 0 ? text : text.substring(0, path)), config);
    } catch (URISyntaxException e) {
      return single(text);
    }
  }

  /**
   * The URIs of the servers of {@code uri}, in the order of the configuration; the first has the
   * namespace.
   *
   * @throws TakoException INVALID_ARGUMENT when it names neither a server nor a cluster
   */
  public static List<URI> servers(URI uri, TakoConfig config) throws TakoException {
    if (!isCluster(uri, config)) {
      return List.of(single(uri.toString()));
    }
    List<URI> servers = new ArrayList<>();
    for (String server : config.clusterServers(name(uri))) {
      servers.add(ServerUri.parse(ServerUri.SCHEME + "://" + server));
    }
    return servers;
  }

  private static URI single(String text) throws TakoException {
    try {
      return ServerUri.parse(text);
    } catch (TakoException e) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          e.getMessage() + "; a cluster's name needs its servers in fs.tako.cluster.NAME.servers",
          e);
    }
  }
}
