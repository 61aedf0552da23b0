package io.takofs.cli.doctor;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.takofs.server.report.Sizes;
import java.io.PrintWriter;

/**
 * Facts by section, and problems with what to do about them: for programs as JSON, for people as
 * lines. Both show the same, so a name of the one is a label of the other.
 *
 * <p>Thread rule: one thread.
 */
public final class Diagnosis {
  /** Ends the names of numbers of bytes. */
  private static final String BYTES = "_bytes";

  private static final String INDENT = "  ";
  private static final int LABEL_WIDTH = 28;

  private final JsonObject sections = new JsonObject();
  private final JsonArray problems = new JsonArray();

  /** A new section, to be filled. */
  public JsonObject section(String name) {
    JsonObject section = new JsonObject();
    sections.add(name, section);
    return section;
  }

  /**
   * Adds a problem.
   *
   * @param problem what is wrong, and where
   * @param advice what to do about it
   */
  public void problem(String problem, String advice) {
    JsonObject entry = new JsonObject();
    entry.addProperty("problem", problem);
    entry.addProperty("advice", advice);
    problems.add(entry);
  }

  /** One object: the sections, and {@code problems}. */
  public String json() {
    JsonObject all = sections.deepCopy();
    all.add("problems", problems);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(all);
  }

  /** Everything, for people. */
  public void print(PrintWriter out) {
    print(out, "", sections);
    out.println(problems.isEmpty() ? "no problems" : "problems");
    for (JsonElement problem : problems) {
      JsonObject entry = problem.getAsJsonObject();
      out.println(INDENT + entry.get("problem").getAsString());
      out.println(INDENT + INDENT + "-> " + entry.get("advice").getAsString());
    }
  }

  private static void print(PrintWriter out, String indent, JsonObject object) {
    for (String name : object.keySet()) {
      JsonElement value = object.get(name);
      if (value.isJsonObject()) {
        printUnder(out, indent, name, value.getAsJsonObject());
      } else if (isListOfObjects(value)) {
        value
            .getAsJsonArray()
            .forEach(each -> printUnder(out, indent, name, each.getAsJsonObject()));
      } else {
        String line = indent + label(name);
        out.println(
            line + " ".repeat(Math.max(1, LABEL_WIDTH - line.length())) + text(name, value));
      }
    }
  }

  private static void printUnder(PrintWriter out, String indent, String name, JsonObject object) {
    out.println(indent + label(name));
    print(out, indent + INDENT, object);
  }

  private static boolean isListOfObjects(JsonElement value) {
    return value.isJsonArray()
        && !value.getAsJsonArray().isEmpty()
        && value.getAsJsonArray().get(0).isJsonObject();
  }

  private static String label(String name) {
    return (name.endsWith(BYTES) ? name.substring(0, name.length() - BYTES.length()) : name)
        .replace('_', ' ');
  }

  private static String text(String name, JsonElement value) {
    if (value.isJsonArray()) {
      StringBuilder joined = new StringBuilder();
      for (JsonElement element : value.getAsJsonArray()) {
        joined.append(joined.isEmpty() ? "" : ", ").append(text(name, element));
      }
      return joined.isEmpty() ? "none" : joined.toString();
    }
    JsonPrimitive primitive = value.getAsJsonPrimitive();
    if (primitive.isBoolean()) {
      return primitive.getAsBoolean() ? "yes" : "no";
    }
    return primitive.isNumber() && name.endsWith(BYTES)
        ? Sizes.human(primitive.getAsLong())
        : primitive.getAsString();
  }
}
