package io.takofs.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import io.takofs.proto.ServerStatus;
import java.net.URI;

/** A server's status as JSON: the protocol's field names, 64-bit numbers as strings. */
final class StatusJson {
  private StatusJson() {}

  /** One object. */
  static String text(URI server, String transport, ServerStatus status)
      throws InvalidProtocolBufferException {
    JsonObject object = new JsonObject();
    object.addProperty("server", server.toString());
    object.addProperty("transport", transport);
    object.add(
        "status",
        JsonParser.parseString(
            JsonFormat.printer()
                .preservingProtoFieldNames()
                .alwaysPrintFieldsWithNoPresence()
                .print(status)));
    return new GsonBuilder().setPrettyPrinting().create().toJson(object);
  }
}
