/**
 * Byte strings of stored keys and values: what a record looks like is said by the class it becomes.
 */
package io.takofs.server.codec;
