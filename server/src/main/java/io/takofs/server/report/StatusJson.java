package io.takofs.server.report;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerStatus;
import java.net.URI;

/**
 * A server's status, and that of its cluster, as JSON: the protocol's field names, 64-bit numbers
 * as strings.
 */
public final class StatusJson {
  private StatusJson() {}

  /**
   * One object.
   *
   * @param transport how the server was reached; empty leaves it out
   * @param cluster left out when the server is alone
   */
  public static String text(
      URI server, String transport, ServerStatus status, ClusterStatus cluster) {
    JsonObject object = new JsonObject();
    object.addProperty("server", server.toString());
    if (!transport.isEmpty()) {
      object.addProperty("transport", transport);
    }
    object.add("status", json(status));
    if (cluster.getServersCount() > 1) {
      object.add("cluster", json(cluster));
    }
    return text(object);
  }

  /**
   * One object, for when the server with the namespace does not answer.
   *
   * @param problem a sentence that says so
   * @param cluster as another server knows it
   */
  public static String text(URI server, String problem, ClusterStatus cluster) {
    JsonObject object = new JsonObject();
    object.addProperty("server", server.toString());
    object.addProperty("problem", problem);
    object.add("cluster", json(cluster));
    return text(object);
  }

  private static String text(JsonObject object) {
    return new GsonBuilder().setPrettyPrinting().create().toJson(object);
  }

  private static JsonElement json(MessageOrBuilder message) {
    try {
      return JsonParser.parseString(
          JsonFormat.printer()
              .preservingProtoFieldNames()
              .alwaysPrintFieldsWithNoPresence()
              .print(message));
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a status has no field of type Any", e);
    }
  }
}
