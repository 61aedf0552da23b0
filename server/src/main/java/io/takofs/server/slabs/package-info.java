/**
 * The slabs that servers lend to a group: which of them answer, what each has lent, and how lost
 * copies are made again, and files get another number of copies.
 */
package io.takofs.server.slabs;
