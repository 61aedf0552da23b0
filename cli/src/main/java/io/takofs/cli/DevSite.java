package io.takofs.cli;

import io.takofs.config.ConfigKeys;
import io.takofs.config.SiteXml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The configuration of {@code tako dev}'s servers: what it sets itself, and what its user added.
 */
record DevSite(Path file) {
  private static final Set<String> OWN =
      Set.of(ConfigKeys.CLUSTER_SERVERS.name(), ConfigKeys.POOL_SIZE.name());

  /** The size that the first start gave its pools; empty before it. */
  Optional<String> poolSize() throws IOException {
    return Optional.ofNullable(properties().get(ConfigKeys.POOL_SIZE.name()));
  }

  /** The keys that its user added. */
  Map<String, String> added() throws IOException {
    Map<String, String> added = properties();
    added.keySet().removeAll(OWN);
    return added;
  }

  /**
   * Those of them that a server takes; one below Tako's prefix that it does not know it refuses.
   */
  Map<String, String> addedForServers() throws IOException {
    Map<String, String> keys = added();
    keys.keySet()
        .removeIf(
            key ->
                !key.startsWith(ConfigKeys.PREFIX)
                    && ConfigKeys.all().stream().noneMatch(each -> each.name().equals(key)));
    return keys;
  }

  /** Sets the keys of {@code tako dev} anew and keeps the others; without any there is no file. */
  void write(Map<String, String> own) throws IOException {
    Map<String, String> all = new LinkedHashMap<>(own);
    all.putAll(added());
    if (all.isEmpty()) {
      Files.deleteIfExists(file);
    } else if (!all.equals(properties())) { // else comments of the user would be lost
      Files.writeString(file, SiteFile.xml(all));
    }
  }

  private Map<String, String> properties() throws IOException {
    Map<String, String> properties = new LinkedHashMap<>();
    if (Files.exists(file)) {
      SiteXml.read(file).forEach(each -> properties.put(each.getKey(), each.getValue()));
    }
    return properties;
  }
}
