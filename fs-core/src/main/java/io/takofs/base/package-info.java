/** Basics of every layer: injected time, always-on checks, the root of the exceptions. */
package io.takofs.base;
