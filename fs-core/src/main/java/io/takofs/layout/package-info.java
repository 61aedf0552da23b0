/** Memory and wire layouts, generated from {@code native/include/tako/layout.def}. */
package io.takofs.layout;
