/** HDFS's suites of shell commands and their output, on Tako. */
package io.takofs.hadoop.commands;
