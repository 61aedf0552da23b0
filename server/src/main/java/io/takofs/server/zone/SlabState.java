package io.takofs.server.zone;

/** The state of a slab in its server's table. The codes are those of layout.def. */
enum SlabState {
  FREE(0),
  LEASED(1),
  /** Not lent any more; lent again once nobody can write or reads it. */
  RETURNED(2);

  private static final SlabState[] ALL = values();

  private final int code;

  SlabState(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  /** The state with this code; null for none. */
  static SlabState of(int code) {
    for (SlabState state : ALL) {
      if (state.code == code) {
        return state;
      }
    }
    return null;
  }
}
