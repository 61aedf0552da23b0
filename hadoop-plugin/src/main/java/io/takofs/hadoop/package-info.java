/**
 * Hadoop's FileSystem and AbstractFileSystem over Tako's client; the only place of Hadoop types.
 */
package io.takofs.hadoop;
