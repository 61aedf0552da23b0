/** What of DiSNI is replaced, because it cannot be told otherwise. */
package com.ibm.disni.util;
