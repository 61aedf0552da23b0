package io.takofs.history;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.takofs.history.CallResult.Outcome;
import io.takofs.history.NamespaceCall.Action;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Reads a history: events, one a line, in JSON. An operation has a line that begins it and at most
 * one that ends it, or says that its outcome is unknown.
 *
 * <p>Thread rule: one thread.
 */
public final class HistoryReader {
  private static final Set<String> FIELDS =
      Set.of(
          "op",
          "event",
          "at",
          "process",
          "do",
          "path",
          "target",
          "overwrite",
          "content",
          "length",
          "open",
          "outcome",
          "why");

  private final Map<Long, HistoryOperation> operations = new LinkedHashMap<>();
  private final Set<Long> over = new HashSet<>();

  private HistoryReader() {}

  /**
   * The operations of a file in the order of their beginnings.
   *
   * @throws IOException for what is no history; says which line is wrong, and why
   */
  public static List<HistoryOperation> read(Path file) throws IOException {
    HistoryReader reader = new HistoryReader();
    int number = 0;
    try {
      for (String line : Files.readAllLines(file)) {
        number++;
        reader.add(parse(line));
      }
      if (reader.operations.isEmpty()) {
        throw new IllegalArgumentException("there is no event in it");
      }
      reader.checkContents();
    } catch (IllegalArgumentException e) {
      throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
    }
    return reader.operations.values().stream()
        .sorted(Comparator.comparingLong(HistoryOperation::beginNs))
        .toList();
  }

  private static JsonObject parse(String line) {
    try {
      JsonElement event = JsonParser.parseString(line);
      require(event.isJsonObject(), "an event is a JSON object");
      Set<String> fields = new HashSet<>(event.getAsJsonObject().keySet());
      fields.removeAll(FIELDS);
      require(fields.isEmpty(), "nobody knows the fields " + fields);
      return event.getAsJsonObject();
    } catch (JsonParseException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private void add(JsonObject event) {
    long number = number(event, "op");
    switch (text(event, "event")) {
      case "begin" -> begin(number, event);
      case "end" -> end(number, event);
      case "unknown" -> close(number, event);
      default -> throw new IllegalArgumentException("an event is a begin, an end or unknown");
    }
  }

  private void begin(long number, JsonObject event) {
    require(number > 0, "numbers of operations begin at 1");
    Action action = word(Action.class, text(event, "do"));
    NamespaceCall call =
        new NamespaceCall(
            action,
            text(event, "path"),
            text(event, "target"),
            flag(event, "overwrite"),
            number(event, "content"),
            number(event, "length"));
    require(!call.path().isEmpty(), "an operation has a path");
    require(
        (action == Action.RENAME) != call.target().isEmpty(),
        "a rename, and only it, has a target");
    require(!call.target().equals(call.path()), "a rename has another target than its path");
    require(
        call.hasContent() == (call.content() > 0 && call.length() > 0),
        "creates and writes, and only they, have content and length");
    HistoryOperation begun =
        HistoryOperation.begun(number, (int) number(event, "process"), number(event, "at"), call);
    require(operations.put(number, begun) == null, "operation " + number + " begins twice");
  }

  private HistoryOperation close(long number, JsonObject event) {
    HistoryOperation begun = operations.get(number);
    require(begun != null, "operation " + number + " ends and has not begun");
    require(over.add(number), "operation " + number + " ends twice");
    require(
        number(event, "at") >= begun.beginNs(), "operation " + number + " ends before it begins");
    return begun;
  }

  private void end(long number, JsonObject event) {
    HistoryOperation begun = close(number, event);
    Outcome outcome = word(Outcome.class, text(event, "outcome"));
    Action action = begun.call().action();
    require(
        Outcome.of(action).contains(outcome),
        "the outcome of a " + action.word() + " is not " + outcome.word());
    CallResult result =
        new CallResult(
            outcome, number(event, "content"), number(event, "length"), flag(event, "open"));
    operations.put(number, begun.ended(number(event, "at"), result));
  }

  /** Each content is created once, and written only where it was created. */
  private void checkContents() {
    Map<Long, NamespaceCall> created = new HashMap<>();
    for (NamespaceCall call : calls(Action.CREATE).toList()) {
      require(
          created.put(call.content(), call) == null,
          "content " + call.content() + " is created twice");
    }
    for (NamespaceCall call : calls(Action.WRITE).toList()) {
      NamespaceCall first = created.get(call.content());
      require(
          first != null && first.path().equals(call.path()) && first.length() == call.length(),
          "content " + call.content() + " is written where it was not created");
    }
  }

  private Stream<NamespaceCall> calls(Action action) {
    return operations.values().stream()
        .map(HistoryOperation::call)
        .filter(call -> call.action() == action);
  }

  private static String text(JsonObject event, String field) {
    return value(event, field, JsonPrimitive::isString).map(JsonPrimitive::getAsString).orElse("");
  }

  private static long number(JsonObject event, String field) {
    return value(event, field, JsonPrimitive::isNumber).map(JsonPrimitive::getAsLong).orElse(0L);
  }

  private static boolean flag(JsonObject event, String field) {
    return value(event, field, JsonPrimitive::isBoolean)
        .map(JsonPrimitive::getAsBoolean)
        .orElse(false);
  }

  private static Optional<JsonPrimitive> value(
      JsonObject event, String field, Predicate<JsonPrimitive> isOfType) {
    JsonElement value = event.get(field);
    if (value == null) {
      return Optional.empty();
    }
    require(
        value.isJsonPrimitive() && isOfType.test(value.getAsJsonPrimitive()),
        field + " is of another type");
    return Optional.of(value.getAsJsonPrimitive());
  }

  private static <T extends Enum<T>> T word(Class<T> type, String word) {
    require(word.equals(word.toLowerCase(Locale.ROOT)), "words are of small letters");
    return Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
