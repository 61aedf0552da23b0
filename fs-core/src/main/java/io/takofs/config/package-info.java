/** Configuration in Hadoop's XML form, every key with type, default, unit and meaning. */
package io.takofs.config;
