/** The command line: {@code bin/tako}. Works with no Hadoop installed. */
package io.takofs.cli;
