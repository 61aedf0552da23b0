package io.takofs.base;

import io.takofs.proto.Status;

/** Whether text has a form in UTF-8. */
public final class UnicodeText {
  private UnicodeText() {}

  /**
   * Refuses {@code name} unless {@link #isWellFormed}.
   *
   * @param what it is the name of, for the message
   * @throws TakoException INVALID_ARGUMENT
   */
  public static void check(String name, String what) throws TakoException {
    if (!isWellFormed(name)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          what
              + " '"
              + name
              + "' has half of a surrogate pair, which no UTF-8 can express; use another name");
    }
  }

  /**
   * Whether every surrogate in {@code text} is half of a pair. One that is not has no form in
   * UTF-8: Java writes a question mark instead, and so two names become one.
   */
  public static boolean isWellFormed(String text) {
    int i = 0;
    while (i < text.length()) {
      int point = text.codePointAt(i); // a surrogate only when it is unpaired
      if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
        return false;
      }
      i += Character.charCount(point);
    }
    return true;
  }
}
