/** Mapped files: the pool and everything registered for remote access. */
package io.takofs.memory;
