/** Hadoop's suites of the manifest committer, whose jobs commit by renaming, on Tako. */
package io.takofs.hadoop.committer;
