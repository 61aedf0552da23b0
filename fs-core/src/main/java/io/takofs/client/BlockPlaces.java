package io.takofs.client;

import java.util.List;

/**
 * The servers that have the bytes of one block of a file.
 *
 * @param offset of the block in the file
 * @param length bytes
 * @param hosts servers that have some of it, those with most of its bytes first
 */
public record BlockPlaces(long offset, long length, List<Host> hosts) {
  /**
   * A server.
   *
   * @param rack as Hadoop's topology names it
   */
  public record Host(String host, int port, String rack) {}
}
