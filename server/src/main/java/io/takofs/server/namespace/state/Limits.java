package io.takofs.server.namespace.state;

import io.takofs.layout.Layout;
import io.takofs.proto.FormatGroup;

/**
 * The limits that the operator had configured when the group was formatted: the first entry of its
 * log has them, so that every replay finds them unchanged.
 *
 * @param superuser owner of the root directory
 * @param supergroup group of the root directory
 * @param blockSize block size of a file whose creator names none, bytes
 * @param inlineMax data a file may keep in its metadata, bytes
 * @param replicationMax copies of file data that are kept at most, whatever files ask for
 */
public record Limits(
    String superuser, String supergroup, long blockSize, int inlineMax, int replicationMax) {
  /** Copies of a file whose creator names no replication, where there may be so many. */
  private static final int REPLICATION = 3;

  /** Longest name, user or group, bytes of UTF-8. */
  public static final int NAME_MAX = 255;

  /** Longest path, bytes of UTF-8. */
  public static final int PATH_MAX = 8000;

  /** Elements of the deepest path. */
  public static final int DEPTH_MAX = 1000;

  /** Maximum size of a list in a reply, bytes; the rest is for the header and the other fields. */
  public static final int REPLY_LIST_MAX = Layout.RPC_REPLY_SLOT_SIZE - 1024;

  static Limits of(FormatGroup format) {
    return new Limits(
        format.getSuperuser(),
        format.getSupergroup(),
        format.getBlockSize(),
        format.getInlineMax(),
        format.getReplicationMax());
  }

  /** The first entry of a group with these limits. */
  public FormatGroup toProto(int group) {
    return FormatGroup.newBuilder()
        .setGroup(group)
        .setSuperuser(superuser)
        .setSupergroup(supergroup)
        .setBlockSize(blockSize)
        .setInlineMax(inlineMax)
        .setReplicationMax(replicationMax)
        .build();
  }

  /** Replication of a file whose creator names none. */
  public int defaultReplication() {
    return copies(REPLICATION);
  }

  /** Copies that are kept of the data of a file that asks for {@code replication}. */
  public int copies(int replication) {
    return Math.max(1, Math.min(replication, replicationMax));
  }

  /** The defaults, for a server run by {@code superuser}. */
  public static Limits defaults(String superuser) {
    return new Limits(superuser, "supergroup", 128 << 20, 2048, 1);
  }
}
