/**
 * The slabs that servers lend to a group: which of them answer, what each has lent, and how lost
 * copies are made again.
 */
package io.takofs.server.slabs;
