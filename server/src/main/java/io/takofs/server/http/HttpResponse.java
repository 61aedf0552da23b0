package io.takofs.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * An answer.
 *
 * @param status of HTTP
 * @param type its Content-Type
 */
record HttpResponse(int status, String type, byte[] body) {
  private static final String TEXT = "text/plain; charset=utf-8";

  static HttpResponse text(int status, String text) {
    return of(status, TEXT, text + "\n");
  }

  static HttpResponse of(int status, String type, String text) {
    return new HttpResponse(status, type, text.getBytes(UTF_8));
  }
}
