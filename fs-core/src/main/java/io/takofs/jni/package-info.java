/** The one way into native code: a narrow table of functions on primitives, and its loader. */
package io.takofs.jni;
