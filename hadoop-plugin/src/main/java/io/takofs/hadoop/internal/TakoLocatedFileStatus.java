package io.takofs.hadoop.internal;

import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.LocatedFileStatus;

/** A status with block locations and the identity of its file. */
final class TakoLocatedFileStatus extends LocatedFileStatus implements FileIdentity.Holder {
  private static final long serialVersionUID = 1;

  private final FileIdentity identity;

  TakoLocatedFileStatus(TakoFileStatus status, BlockLocation[] locations) {
    super(status, locations);
    this.identity = status.identity();
  }

  @Override
  public FileIdentity identity() {
    return identity;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other); // by path, as Hadoop has it
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
