/** Open files: readers, writers, and the extents that their bytes are in. */
package io.takofs.client.internal.file;
