/** What every layer needs: injected time, always-on checks, the root of the exceptions. */
package io.takofs.base;
