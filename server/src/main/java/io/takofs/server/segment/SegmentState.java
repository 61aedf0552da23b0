package io.takofs.server.segment;

/** The state of a slot of the log zone. */
public enum SegmentState {
  /** Nothing. The header keeps the sequence of the last segment that was here. */
  FREE(0),
  /** The segment that frames are appended to. */
  OPEN(1),
  /** A finished segment: its length and chain are fixed. */
  SEALED(2),
  /** A finished segment that is also in lower storage. */
  FLUSHED(3),
  /** Given to the leader of a group, which has not begun a segment here as far as is known. */
  GRANTED(4);

  private final byte code;

  SegmentState(int code) {
    this.code = (byte) code;
  }

  /** The stored code of the state. */
  byte code() {
    return code;
  }

  /** The state stored as {@code code}, or null. */
  static SegmentState of(byte code) {
    for (SegmentState state : values()) {
      if (state.code == code) {
        return state;
      }
    }
    return null;
  }
}
