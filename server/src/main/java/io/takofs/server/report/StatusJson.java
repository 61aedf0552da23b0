package io.takofs.server.report;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import io.takofs.proto.ServerStatus;
import java.net.URI;

/** A server's status as JSON: the protocol's field names, 64-bit numbers as strings. */
public final class StatusJson {
  private StatusJson() {}

  /**
   * One object.
   *
   * @param transport how the server was reached; empty leaves it out
   */
  public static String text(URI server, String transport, ServerStatus status) {
    JsonObject object = new JsonObject();
    object.addProperty("server", server.toString());
    if (!transport.isEmpty()) {
      object.addProperty("transport", transport);
    }
    try {
      object.add(
          "status",
          JsonParser.parseString(
              JsonFormat.printer()
                  .preservingProtoFieldNames()
                  .alwaysPrintFieldsWithNoPresence()
                  .print(status)));
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a status has no field of type Any", e);
    }
    return new GsonBuilder().setPrettyPrinting().create().toJson(object);
  }
}
