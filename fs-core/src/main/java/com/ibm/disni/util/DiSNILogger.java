package com.ibm.disni.util;

import org.slf4j.Logger;
import org.slf4j.helpers.NOPLogger;

/**
 * Takes the place of DiSNI's class of this name, whose logger writes lines at level INFO for every
 * call, to the console of whoever runs a Hadoop command. DiSNI throws its errors.
 *
 * <p>Thread rule: any thread.
 */
public final class DiSNILogger {
  private DiSNILogger() {}

  /** A logger that is silent. */
  public static Logger getLogger() {
    return NOPLogger.NOP_LOGGER;
  }
}
