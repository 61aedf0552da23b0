/** The data server: pool, log, namespace and data zone behind one RPC endpoint. */
package io.takofs.server;
