package io.takofs.base;

/** Whether text has a form in UTF-8. */
public final class UnicodeText {
  private UnicodeText() {}

  /**
   * Whether every surrogate in {@code text} is half of a pair. One that is not has no form in
   * UTF-8: Java writes a question mark instead, and so two names become one.
   */
  public static boolean isWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!Character.isSurrogate(text.charAt(i))) {
        continue;
      }
      boolean pair =
          i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
      if (!pair) {
        return false;
      }
      i++;
    }
    return true;
  }
}
