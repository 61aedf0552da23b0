package io.takofs.server.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the first request of a connection and closes it; bodies of requests are not looked at.
 *
 * <p>Thread rule: the endpoint's thread.
 */
final class RequestHandler extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(RequestHandler.class);

  /** Nothing from elsewhere is loaded, run, or shows these pages inside its own. */
  private static final String POLICY =
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
          + " img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

  private final Site site;
  private boolean answered;

  RequestHandler(Site site) {
    this.site = site;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (message instanceof HttpRequest request && !answered) {
        answered = true;
        answer(context, request);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void answer(ChannelHandlerContext context, HttpRequest request) {
    boolean head = request.method().equals(HttpMethod.HEAD);
    HttpResponse page;
    if (request.decoderResult().isFailure()) {
      page = refusal(request.decoderResult().cause());
    } else if (!head && !request.method().equals(HttpMethod.GET)) {
      page =
          HttpResponse.text(405, request.method() + " is not allowed: nothing can be changed here");
    } else {
      page = page(request.uri());
    }
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(page.status()),
            head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(page.body()));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, page.type())
        .setInt(HttpHeaderNames.CONTENT_LENGTH, page.body().length)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
        .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, POLICY)
        .set("x-content-type-options", "nosniff")
        .set("referrer-policy", "no-referrer");
    if (page.status() == 405) {
      response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
    }
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  private HttpResponse page(String uri) {
    try {
      return site.page(uri);
    } catch (RuntimeException e) {
      LOG.error("{} cannot be shown", uri, e);
      return HttpResponse.text(500, "the page cannot be shown; see the server's log");
    }
  }

  private static HttpResponse refusal(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return HttpResponse.text(414, "the address is too long");
    }
    return cause instanceof TooLongHttpHeaderException
        ? HttpResponse.text(431, "the header is too long")
        : HttpResponse.text(400, "this is no HTTP request");
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.debug("{}: {}", context.channel().remoteAddress(), cause.toString());
    var unused = context.close();
  }
}
