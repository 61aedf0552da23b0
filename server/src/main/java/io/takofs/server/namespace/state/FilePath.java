package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.proto.Status;
import java.util.Arrays;

/** A checked absolute path: names of 1 to 255 bytes, none of them '.' or '..', no trailing '/'. */
public final class FilePath {
  private final String text;
  private final String[] names;

  private FilePath(String text, String[] names) {
    this.text = text;
    this.names = names;
  }

  /**
   * Checks and splits.
   *
   * @throws TakoException with status INVALID_ARGUMENT, saying which element is wrong and why
   */
  public static FilePath parse(String text) throws TakoException {
    if (!text.startsWith("/")) {
      throw invalid(text, "it does not begin with '/'");
    }
    if (!UnicodeText.isWellFormed(text)) {
      throw invalid(text, "it has half of a surrogate pair, which no UTF-8 can express");
    }
    if (text.getBytes(UTF_8).length > Limits.PATH_MAX) {
      throw invalid(text, "it is longer than %d bytes".formatted(Limits.PATH_MAX));
    }
    if (text.length() == 1) {
      return new FilePath(text, new String[0]);
    }
    String[] names = text.substring(1).split("/", -1);
    if (names.length > Limits.DEPTH_MAX) {
      throw invalid(text, "it has more than %d elements".formatted(Limits.DEPTH_MAX));
    }
    for (String name : names) {
      checkName(text, name);
    }
    return new FilePath(text, names);
  }

  private static void checkName(String text, String name) throws TakoException {
    if (name.isEmpty()) {
      throw invalid(
          text, "it has an empty element; write one '/' between names and none at the end");
    }
    if (name.equals(".") || name.equals("..")) {
      throw invalid(text, "'" + name + "' is not a name; resolve it before calling");
    }
    if (name.indexOf('\0') >= 0) {
      throw invalid(text, "a name has a NUL character");
    }
    int length = name.getBytes(UTF_8).length;
    if (length > Limits.NAME_MAX) {
      throw invalid(
          text,
          "the name '%s...' has %d bytes; %d is the most"
              .formatted(name.substring(0, 32), length, Limits.NAME_MAX));
    }
  }

  private static TakoException invalid(String text, String why) {
    return new TakoException(Status.INVALID_ARGUMENT, "invalid path '" + text + "': " + why);
  }

  /** Elements; 0 for the root. */
  public int depth() {
    return names.length;
  }

  public boolean isRoot() {
    return names.length == 0;
  }

  /** Name {@code 0 .. depth - 1}. */
  public byte[] name(int element) {
    return names[element].getBytes(UTF_8);
  }

  /** Last name. */
  public byte[] name() {
    return name(names.length - 1);
  }

  /** The path of the first {@code depth} elements. */
  String prefix(int depth) {
    if (depth == names.length) {
      return text;
    }
    return depth == 0 ? "/" : "/" + String.join("/", Arrays.copyOf(names, depth));
  }

  /** Whether this path leads to something below {@code other}. */
  public boolean isBelow(FilePath other) {
    return names.length > other.names.length && prefix(other.names.length).equals(other.text);
  }

  public boolean isSame(FilePath other) {
    return text.equals(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
