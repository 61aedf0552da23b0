package io.takofs.server.member;

import io.takofs.server.log.GroupCatalog;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The catalog, where a leader may ask for other members of its group.
 *
 * <p>Thread rule: any thread; nothing waits.
 */
public interface MemberCatalog extends GroupCatalog {
  /** The group's number. */
  int group();

  /**
   * Asks for other members than those of configuration {@code epoch}, if it is the newest.
   *
   * @param stillRight whether they can be members at the moment at which the map is changed: there
   *     is no way back
   */
  void change(long epoch, Set<Integer> members, BooleanSupplier stillRight);
}
