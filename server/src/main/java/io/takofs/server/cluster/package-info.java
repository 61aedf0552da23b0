/** The catalog that a configuration describes. */
package io.takofs.server.cluster;
