/**
 * Hadoop's FileSystem and AbstractFileSystem over Tako's client: the classes that Hadoop loads by
 * name, and their superclasses. Only this package and {@code io.takofs.hadoop.internal} have
 * Hadoop's types.
 */
package io.takofs.hadoop;
