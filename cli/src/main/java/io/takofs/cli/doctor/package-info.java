/** What {@code tako doctor} checks. */
package io.takofs.cli.doctor;
