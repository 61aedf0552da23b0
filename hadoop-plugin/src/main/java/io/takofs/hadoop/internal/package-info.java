/**
 * The operations and streams that the classes of {@code io.takofs.hadoop} are made of. Hadoop loads
 * none of these classes by name, so that their names may change.
 */
package io.takofs.hadoop.internal;
