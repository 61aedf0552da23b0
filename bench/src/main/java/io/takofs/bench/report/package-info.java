/** Code that the comparisons share: figures by round, processor time, the table and the JSON. */
package io.takofs.bench.report;
