/**
 * JMH benchmarks of the parts that every operation pays for; {@code bin/bench --micro} runs them.
 * They say where time goes, not how fast Tako is.
 */
package io.takofs.bench.micro;
