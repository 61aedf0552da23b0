/**
 * What the comparisons have in common: figures by round, processor time, the table and the JSON.
 */
package io.takofs.bench.report;
