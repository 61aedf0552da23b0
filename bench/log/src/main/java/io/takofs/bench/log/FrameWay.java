package io.takofs.bench.log;

/** How frames get from a leader to a follower. */
enum FrameWay {
  /** The follower's processor is called, verifies them, copies them to its log and answers. */
  CALLS("calls"),
  /** The leader writes them into the follower's log. */
  ONE_SIDED("one-sided");

  final String label;

  FrameWay(String label) {
    this.label = label;
  }
}
