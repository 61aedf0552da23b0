package io.takofs.hadoop;

/**
 * Superclass of {@link TakoFileSystem}, with everything that the newest Hadoop has. For an older
 * Hadoop, {@link ApiSelection} loads another class under this name instead.
 */
public abstract class NewestApi extends Api341 {}
