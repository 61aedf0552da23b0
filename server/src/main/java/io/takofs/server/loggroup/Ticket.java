package io.takofs.server.loggroup;

/**
 * An entry that a leader has proposed. It happened once it is committed, and until then nobody
 * outside of the group may hear of what it has changed.
 *
 * @param index position in the log
 * @param term of the leader that proposed it: another leader may have put another entry there
 */
public record Ticket(long index, long term) {}
