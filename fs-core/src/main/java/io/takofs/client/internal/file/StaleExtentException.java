package io.takofs.client.internal.file;

/** Bytes that were read are not those that were committed: the extent list is old, or they rot. */
final class StaleExtentException extends Exception {
  StaleExtentException(ExtentView extent, String what) {
    super(extent + ": " + what, null, false, false);
  }
}
