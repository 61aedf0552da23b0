/**
 * The parts of a log in memory: frames, each of which has the checksum of the one before in it, lie
 * in segments, which follow one another in slots of equal size.
 */
package io.takofs.server.segment;
