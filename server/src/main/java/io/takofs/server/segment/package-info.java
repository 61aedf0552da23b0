/**
 * What a log is made of in memory: frames, each with the checksum of the one before in it, in
 * segments, which follow one another in slots of equal size.
 */
package io.takofs.server.segment;
