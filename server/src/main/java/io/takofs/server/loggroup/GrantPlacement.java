package io.takofs.server.loggroup;

import java.util.Set;

/**
 * The servers on which a call may be granted extents.
 *
 * @param near server that should have one of the copies; 0 for any
 * @param avoided servers that must have none of them
 */
public record GrantPlacement(int near, Set<Integer> avoided) {
  /** The placement of a call that grants nothing. */
  public static final GrantPlacement NONE = new GrantPlacement(0, Set.of());
}
