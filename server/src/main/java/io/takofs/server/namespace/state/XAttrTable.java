package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.takofs.proto.XAttr;
import io.takofs.proto.XAttrNamespace;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.List;

/**
 * The extended attributes of inodes: beside a file's data, under the inode's id. The key of one is
 * {@code Y id namespace:u8 name 0}, its value is kept in {@link Pieces}.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class XAttrTable {
  private static final int NAME_AT = 1 + Long.BYTES + 1;

  private final Store store;

  XAttrTable(Store store) {
    this.store = store;
  }

  /** The value of {@code name}, or null. */
  public byte[] get(long id, XAttrNamespace namespace, String name) {
    return Pieces.get(map(id), key(id, namespace, name));
  }

  public void put(Transaction tx, long id, XAttr xattr) {
    Pieces.put(
        tx,
        map(id),
        key(id, xattr.getNamespace(), xattr.getName()),
        xattr.getValue().toByteArray());
  }

  public void remove(Transaction tx, long id, XAttr xattr) {
    Pieces.remove(tx, map(id), key(id, xattr.getNamespace(), xattr.getName()));
  }

  /** Visits attributes in order, without their values, from the first after {@code after}. */
  public void scan(long id, XAttr after, Visitor visitor) {
    byte[] prefix = Keys.of(Keys.XATTR, id);
    byte[] from = prefix;
    if (!after.getName().isEmpty()) {
      from = key(id, after.getNamespace(), after.getName());
      from[from.length - 1] = 1; // after all of its pieces, before any longer name
    }
    map(id)
        .scanPrefix(
            prefix, from, (key, record) -> Pieces.piece(key) > 0 || visitor.visit(describe(key)));
  }

  /** Receives attributes. */
  @FunctionalInterface
  public interface Visitor {
    /** Returns whether to go on. */
    boolean visit(XAttr xattr);
  }

  private static XAttr describe(byte[] key) {
    int end = key.length - 2;
    return XAttr.newBuilder()
        .setNamespaceValue(key[NAME_AT - 1])
        .setNameBytes(ByteString.copyFrom(key, NAME_AT, end - NAME_AT))
        .build();
  }

  /** The number of attributes of an inode, at most {@code limit}. */
  public int count(long id, int limit) {
    int[] count = {0};
    scan(id, XAttr.getDefaultInstance(), any -> ++count[0] < limit);
    return count[0];
  }

  /** Removes up to {@code limit} records of an inode that is gone; returns whether it had more. */
  public boolean removeSome(Transaction tx, long id, int limit) {
    List<byte[]> keys = new ArrayList<>();
    map(id)
        .scanPrefix(
            Keys.of(Keys.XATTR, id), (key, record) -> keys.add(key) && keys.size() <= limit);
    keys.stream().limit(limit).forEach(key -> tx.remove(map(id), key));
    return keys.size() > limit;
  }

  private static byte[] key(long id, XAttrNamespace namespace, String name) {
    return new ByteWriter(NAME_AT + name.length() + 2)
        .raw(Keys.of(Keys.XATTR, id))
        .u8(namespace.getNumber())
        .raw(name.getBytes(UTF_8))
        .u8(0)
        .toBytes();
  }

  private OrderedMap map(long id) {
    return store.shard(Ids.birthShard(id));
  }
}
