/**
 * The data zone: the arenas as clients see them, the connections and memory windows through which
 * clients reach them, the extents that readers hold, and what makes bytes in them persistent.
 */
package io.takofs.server.zone;
