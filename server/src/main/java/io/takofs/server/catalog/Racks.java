package io.takofs.server.catalog;

import io.takofs.config.ConfigKeys;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Racks of hosts, as Hadoop's topology script (net.topology.script.file.name) names them. A host
 * whose rack cannot be told is in the default one, until it can.
 *
 * <p>Thread rule: any thread, and none that serves a client: a script may take 5 s.
 */
public final class Racks {
  /** The rack of hosts whose rack is not known. */
  public static final String DEFAULT = "/default-rack";

  private static final Logger LOG = LoggerFactory.getLogger(Racks.class);
  private static final int OUTPUT_MAX = 1024;
  private static final int ERRORS_MAX = 300;
  private static final int HOSTS_MAX = 10_000;

  private final String script;
  private final long limitMs;
  private final Map<String, String> known = new LinkedHashMap<>();
  private volatile String problem; // null while there is none

  /**
   * @param script path of a program that prints the rack of the host in its argument; empty for
   *     none
   */
  public Racks(String script) {
    this(script, TimeUnit.SECONDS.toMillis(5));
  }

  Racks(String script, long limitMs) {
    this.script = script;
    this.limitMs = limitMs;
  }

  /** Why the rack of the host that was asked for last is not known, and what it is instead. */
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** The rack of {@code host}, a name or an address. */
  public synchronized String of(String host) {
    if (script.isEmpty()) {
      return DEFAULT;
    }
    String rack = known.get(host);
    if (rack == null) {
      rack = asked(host);
      if (rack == null) {
        return DEFAULT;
      }
      if (known.size() == HOSTS_MAX) {
        known.remove(known.keySet().iterator().next());
      }
      known.put(host, rack);
    }
    return rack;
  }

  /** The script's answer; null when it is of no use. */
  private String asked(String host) {
    try {
      String output = output(address(host));
      String rack = output.strip();
      if (!rack.startsWith("/") || rack.contains("\n") || rack.contains(" ")) {
        throw new IOException("it printed '" + rack + "', which is no rack such as /rack1");
      }
      problem = null;
      return rack;
    } catch (IOException e) {
      String told =
          "%s of %s does not tell the rack of %s (%s): it is %s until it does"
              .formatted(script, ConfigKeys.TOPOLOGY_SCRIPT, host, e.getMessage(), DEFAULT);
      if (problem == null) {
        LOG.warn("{}; further failures are not logged", told);
      }
      problem = told;
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Hadoop asks its script for addresses, so that is what the script knows. */
  private static String address(String host) {
    try {
      return InetAddress.getByName(host).getHostAddress();
    } catch (UnknownHostException e) {
      return host;
    }
  }

  /** Returns what the script has said on standard error, for people. */
  private static String said(InputStream errors) throws IOException {
    int length = Math.min(errors.available(), ERRORS_MAX);
    String text = new String(errors.readNBytes(length), StandardCharsets.UTF_8).strip();
    return text.isEmpty() ? "" : ", and it says: " + text.replaceAll("\\s*\\R\\s*", " / ");
  }

  /** A script that prints more than a pipe takes runs into the time limit. */
  private String output(String host) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(script, host).redirectInput(new File("/dev/null")).start();
    try (InputStream output = process.getInputStream();
        InputStream errors = process.getErrorStream()) {
      if (!process.waitFor(limitMs, TimeUnit.MILLISECONDS)) {
        throw new IOException("it did not end in " + limitMs + " ms" + said(errors));
      }
      if (process.exitValue() != 0) {
        throw new IOException("its exit code is " + process.exitValue() + said(errors));
      }
      // No more than is there: a process that the script left has the pipe open.
      int length = output.available();
      if (length > OUTPUT_MAX) {
        throw new IOException("it printed " + length + " bytes");
      }
      return new String(output.readNBytes(length), StandardCharsets.UTF_8);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
