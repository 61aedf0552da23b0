package io.takofs.server.groups;

import java.util.List;
import java.util.Map;

/** Groups as the configuration lists them. */
public final class StaticGroups implements GroupMapping {
  private final Map<String, List<String>> groups;

  public StaticGroups(Map<String, List<String>> groups) {
    this.groups = Map.copyOf(groups);
  }

  @Override
  public List<String> known(String user) {
    return groups.getOrDefault(user, List.of());
  }

  @Override
  public List<String> resolve(String user) {
    return known(user);
  }

  /** Whether the configuration says anything about {@code user}. */
  boolean lists(String user) {
    return groups.containsKey(user);
  }
}
