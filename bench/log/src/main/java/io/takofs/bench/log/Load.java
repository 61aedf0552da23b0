package io.takofs.bench.log;

/**
 * The work of a server's clients, and its length.
 *
 * @param fresh whether what was kept of earlier runs is forgotten
 * @param readPercent of the operations
 * @param clients with an operation under way each; 0: the server only follows
 * @param applied whether followers apply what is committed, beside keeping it
 * @param startNs when both servers begin, on the clock that processes share
 * @param warmUpNs from then on, which do not count
 * @param countedNs afterwards
 */
record Load(
    boolean fresh,
    int readPercent,
    int clients,
    boolean applied,
    long startNs,
    long warmUpNs,
    long countedNs) {

  /** As {@link #parse} reads it. */
  String line() {
    return fresh
        + " "
        + readPercent
        + " "
        + clients
        + " "
        + applied
        + " "
        + startNs
        + " "
        + warmUpNs
        + " "
        + countedNs;
  }

  static Load parse(String line) {
    String[] words = line.strip().split(" ", -1);
    return new Load(
        Boolean.parseBoolean(words[0]),
        Integer.parseInt(words[1]),
        Integer.parseInt(words[2]),
        Boolean.parseBoolean(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]),
        Long.parseLong(words[6]));
  }
}
