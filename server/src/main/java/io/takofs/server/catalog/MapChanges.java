package io.takofs.server.catalog;

/**
 * Takes changes of the cluster's map from those who must not wait for the catalog.
 *
 * <p>Thread rule: any thread.
 */
@FunctionalInterface
public interface MapChanges {
  /**
   * Has the map changed soon. A change that is refused, or that the catalog does not take, is lost:
   * whoever wants it looks at the map, and asks again. It may be made much later, so it must look
   * whether it is still right.
   *
   * @param what names the change: of those that wait with the same name the last one is made
   */
  void request(String what, CatalogClient.MapChange change);
}
