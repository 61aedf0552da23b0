package io.takofs.client;

import java.util.List;

/**
 * The servers that have the bytes of one block of a file.
 *
 * @param offset of the block in the file
 * @param length bytes
 * @param copies that there are of its bytes; where some have more than others, as many as those
 *     have whose number is still to change: while a file gets another replication
 * @param hosts servers that have some of it, those with most of its bytes first; maybe more than
 *     there are copies of any byte
 * @param inMetadata whether no byte of it is in file data: its bytes are where the namespace is
 */
public record BlockPlaces(
    long offset, long length, int copies, List<Host> hosts, boolean inMetadata) {
  /**
   * A server.
   *
   * @param server its number in the cluster, which no other one ever had
   * @param rack as Hadoop's topology names it
   */
  public record Host(int server, String host, int port, String rack) {}
}
