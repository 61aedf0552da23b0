/**
 * Parts shared by the transports whose operations native code executes: regions of mapped memory,
 * and operations staged as records there.
 */
package io.takofs.transport.staging;
