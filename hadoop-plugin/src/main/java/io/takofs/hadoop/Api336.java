package io.takofs.hadoop;

import org.apache.hadoop.fs.LeaseRecoverable;

/** What Hadoop has since 3.3.6. {@link TakoFileSystem} has the methods, for Hadoop of any age. */
abstract class Api336 extends BaseApi implements LeaseRecoverable {}
