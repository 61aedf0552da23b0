package io.takofs.history;

import com.google.gson.JsonObject;
import io.takofs.history.CallResult.Outcome;
import io.takofs.history.NamespaceCall.Action;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes what clients do to a file that {@link HistoryReader} reads. A caller begins before it asks
 * anything of a server, and ends after it knows the answer.
 *
 * <p>Thread rule: any thread; each operation is one thread's.
 */
public final class HistoryRecorder implements Closeable {
  private final BufferedWriter out;
  private final long originNs = System.nanoTime();
  private long operations;
  private long unknown;

  public HistoryRecorder(Path file) throws IOException {
    this.out = Files.newBufferedWriter(file);
  }

  /** A call is about to be made; returns the number of the operation. */
  public synchronized long begin(int process, NamespaceCall call) throws IOException {
    operations++;
    JsonObject event = event(operations, "begin");
    event.addProperty("process", process);
    event.addProperty("do", call.action().word());
    event.addProperty("path", call.path());
    if (call.action() == Action.RENAME) {
      event.addProperty("target", call.target());
    }
    if (call.overwrite()) {
      event.addProperty("overwrite", true);
    }
    if (call.hasContent()) {
      event.addProperty("content", call.content());
      event.addProperty("length", call.length());
    }
    write(event);
    return operations;
  }

  /** Its answer has come. */
  public synchronized void end(long operation, CallResult result) throws IOException {
    JsonObject event = event(operation, "end");
    event.addProperty("outcome", result.outcome().word());
    if (result.content() != 0) {
      event.addProperty("content", result.content());
    }
    if (result.length() != 0) {
      event.addProperty("length", result.length());
    }
    if (result.open()) {
      event.addProperty("open", true);
    }
    write(event);
  }

  /** No answer will come: it happens at any later time, or never. */
  public synchronized void unknown(long operation, String why) throws IOException {
    unknown++;
    JsonObject event = event(operation, Outcome.UNKNOWN.word());
    event.addProperty("why", why);
    write(event);
  }

  /** Of them there were so many. */
  public synchronized long operations() {
    return operations;
  }

  /** How many of them have an outcome that nobody knows. */
  public synchronized long unknown() {
    return unknown;
  }

  private JsonObject event(long operation, String kind) {
    JsonObject event = new JsonObject();
    event.addProperty("op", operation);
    event.addProperty("event", kind);
    event.addProperty("at", System.nanoTime() - originNs);
    return event;
  }

  private void write(JsonObject event) throws IOException {
    out.write(event.toString());
    out.newLine();
  }

  @Override
  public synchronized void close() throws IOException {
    out.close();
  }
}
