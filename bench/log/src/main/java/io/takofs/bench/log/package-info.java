/**
 * The replicated log with its frames written one-sided, beside the same log whose frames go to the
 * followers in calls: everything else is the same code.
 */
package io.takofs.bench.log;
