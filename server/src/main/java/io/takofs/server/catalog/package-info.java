/**
 * The catalog says which servers there are: a small store of keys with versions, and the map of the
 * cluster in it. Nothing that serves a client waits for it.
 */
package io.takofs.server.catalog;
