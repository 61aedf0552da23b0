package io.takofs.hadoop;

/**
 * Superclass of {@link TakoFileSystem}, with everything that the newest Hadoop has. Where an older
 * one is present, {@link ApiSelection} puts another class of this name in its place.
 */
public abstract class NewestApi extends Api341 {}
