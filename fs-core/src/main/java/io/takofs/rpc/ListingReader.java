package io.takofs.rpc;

import com.google.protobuf.CodedInputStream;
import io.takofs.base.TakoException;
import io.takofs.proto.Listing;
import io.takofs.proto.Status;
import java.io.IOException;

/**
 * The entries of a page of a listing, one after the other. The accessors are of the entry that
 * {@link #next} came to.
 *
 * <p>Thread rule: one thread.
 */
public final class ListingReader {
  private static final int DIRECTORY = 1;
  private static final int UNDER_CONSTRUCTION = 2;
  private static final int HAS_ACL = 4;

  private final Listing listing;
  private final String[] principals;
  private final CodedInputStream in;
  private int flags;
  private String name = "";
  private long id;
  private int permission;
  private String owner;
  private String group;
  private long modificationTimeMs;
  private long accessTimeMs;
  private long length;
  private int replication;
  private long blockSize;
  private long version;

  /** Begins before the first entry. */
  public ListingReader(Listing listing) {
    this.listing = listing;
    this.principals = listing.getPrincipalsList().toArray(new String[0]);
    this.in = listing.getEntries().newCodedInput();
  }

  /** Whether there is another entry in the page. */
  public boolean hasNext() throws TakoException {
    try {
      return !in.isAtEnd();
    } catch (IOException e) {
      throw malformed(e.getMessage());
    }
  }

  /**
   * Goes to the next entry.
   *
   * @throws TakoException MALFORMED when the bytes are no entry
   */
  public void next() throws TakoException {
    try {
      flags = in.readUInt32();
      name = in.readStringRequireUtf8();
      id = in.readFixed64();
      permission = in.readUInt32();
      owner = principal(in.readUInt32());
      group = principal(in.readUInt32());
      modificationTimeMs = in.readSInt64();
      accessTimeMs = modificationTimeMs + in.readSInt64();
      length = in.readUInt64();
      replication = in.readUInt32();
      blockSize = in.readUInt64();
      version = in.readUInt64();
    } catch (IOException e) {
      throw malformed(e.getMessage());
    }
  }

  private String principal(int index) throws TakoException {
    if (index < 0 || index >= principals.length) {
      throw malformed("owner or group %d of %d".formatted(index, principals.length));
    }
    return principals[index];
  }

  private static TakoException malformed(String what) {
    return new TakoException(
        Status.MALFORMED, "a listing has an entry that cannot be read: " + what);
  }

  /** Whether another page may follow this one. */
  public boolean more() {
    // A page with no entries is the last, whatever it says: asking again would give it again.
    return listing.getMore() && !listing.getEntries().isEmpty();
  }

  /** Id of the directory that all entries are in. */
  public long parentId() {
    return listing.getParentId();
  }

  public boolean directory() {
    return (flags & DIRECTORY) != 0;
  }

  public boolean underConstruction() {
    return (flags & UNDER_CONSTRUCTION) != 0;
  }

  public boolean hasAcl() {
    return (flags & HAS_ACL) != 0;
  }

  /** Empty for a file that was listed itself, and before the first entry. */
  public String name() {
    return name;
  }

  public long id() {
    return id;
  }

  public int permission() {
    return permission;
  }

  public String owner() {
    return owner;
  }

  public String group() {
    return group;
  }

  public long modificationTimeMs() {
    return modificationTimeMs;
  }

  public long accessTimeMs() {
    return accessTimeMs;
  }

  /** Bytes. */
  public long length() {
    return length;
  }

  public int replication() {
    return replication;
  }

  /** Bytes. */
  public long blockSize() {
    return blockSize;
  }

  public long version() {
    return version;
  }
}
