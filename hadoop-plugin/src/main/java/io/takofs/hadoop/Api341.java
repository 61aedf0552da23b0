package io.takofs.hadoop;

import io.takofs.hadoop.internal.BulkDeleteOperation;
import java.io.IOException;
import org.apache.hadoop.fs.BulkDelete;
import org.apache.hadoop.fs.BulkDeleteSource;
import org.apache.hadoop.fs.Path;

/** The methods that Hadoop has since 3.4.1. */
public abstract class Api341 extends Api336 implements BulkDeleteSource {
  @Override
  public BulkDelete createBulkDelete(Path base) throws IOException {
    return new BulkDeleteOperation(writing().client(), qualified(base));
  }
}
