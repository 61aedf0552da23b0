/** Replacements for classes of DiSNI whose behaviour cannot be configured. */
package com.ibm.disni.util;
