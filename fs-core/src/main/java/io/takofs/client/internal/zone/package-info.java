/** The data zone as a client reaches it: mapped or over a network, and the buffers for its data. */
package io.takofs.client.internal.zone;
