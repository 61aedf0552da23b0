package io.takofs.server.groups;

import java.util.List;

/**
 * Knows the groups of users.
 *
 * <p>Thread rule: any thread.
 */
public interface GroupMapping {
  /** The groups of {@code user}, or null when only {@link #resolve} can tell. Never blocks. */
  List<String> known(String user);

  /**
   * The groups of {@code user}; empty for a user nobody knows, null when that cannot be told at the
   * moment. May block for seconds.
   */
  List<String> resolve(String user);
}
