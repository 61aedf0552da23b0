/** The checks that {@code tako doctor} makes. */
package io.takofs.cli.doctor;
