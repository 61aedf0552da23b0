package io.takofs.server.report;

/** Permissions as {@code ls} prints them. */
public final class Modes {
  private Modes() {}

  /** Ten characters, such as {@code drwxr-xr-t}. */
  public static String text(boolean directory, int permission) {
    StringBuilder text = new StringBuilder(10).append(directory ? 'd' : '-');
    for (int bit = 8; bit >= 0; bit--) {
      text.append((permission >> bit & 1) == 0 ? '-' : "xwr".charAt(bit % 3));
    }
    if ((permission & 01000) != 0) {
      text.setCharAt(9, (permission & 1) == 0 ? 'T' : 't');
    }
    return text.toString();
  }
}
