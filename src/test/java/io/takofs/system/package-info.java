/** Whole-system tests: real server processes, real clients, killed and checked byte by byte. */
package io.takofs.system;
