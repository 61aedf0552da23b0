/**
 * Bindings of Hadoop's viewfs suites: a mount table in front of Tako. The classes they bind are
 * private to this package of Hadoop's.
 */
package org.apache.hadoop.fs.viewfs;
