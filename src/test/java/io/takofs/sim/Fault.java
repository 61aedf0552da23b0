package io.takofs.sim;

/** What can befall a cluster. */
public enum Fault {
  /** kill -9 of a server, between two events. */
  KILL_SERVER,
  /** kill -9 of a server in the middle of writing its log, which tears the newest frames. */
  KILL_PERSISTING,
  /** kill -9 of a client; its user begins anew. */
  KILL_CLIENT,
  /** One connection breaks, whatever is under way on it. */
  BREAK_CONNECTION,
  /** A process reaches nobody. */
  CUT_OFF,
  /** Two processes do not reach each other. */
  PARTITION,
  /** A process reaches another one, but gets nothing from it. */
  CUT_ONE_WAY,
  /** What a process sends and gets arrives late, after what others send later. */
  SLOW_LINK,
  /** A client stands and does later what it had to do. */
  PAUSE_CLIENT,
  /** A server stands and does later what it had to do. */
  PAUSE_SERVER,
  /** A server does everything late. */
  SLOW_SERVER,
  /** The time of day of a process jumps. */
  CLOCK_JUMP,
  /** A bit of a server's file data changes. */
  FLIP_BIT,
  /** A server ends and its pool is gone, where enough copies are left. */
  LOSE_POOL
}
