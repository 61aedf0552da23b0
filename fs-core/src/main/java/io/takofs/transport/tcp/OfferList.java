package io.takofs.transport.tcp;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.proto.TransportOffer;
import io.takofs.proto.TransportOffers;
import io.takofs.transport.OfferedTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The payload of the answer to a discovery. */
final class OfferList {
  private OfferList() {}

  static byte[] encode(List<OfferedTransport> offers) {
    TransportOffers.Builder message = TransportOffers.newBuilder();
    for (OfferedTransport offer : offers) {
      message.addOffers(
          TransportOffer.newBuilder()
              .setTransport(offer.transport())
              .setEndpoint(offer.endpoint())
              .setHost(offer.host()));
    }
    return message.build().toByteArray();
  }

  /**
   * @param endpoint that sent them, for the error
   */
  static List<OfferedTransport> decode(String endpoint, byte[] payload) throws IOException {
    try {
      List<OfferedTransport> offers = new ArrayList<>();
      for (TransportOffer offer : TransportOffers.parseFrom(payload).getOffersList()) {
        offers.add(
            new OfferedTransport(offer.getTransport(), offer.getEndpoint(), offer.getHost()));
      }
      return offers;
    } catch (InvalidProtocolBufferException e) {
      throw new IOException(endpoint + " sent a malformed list of transports", e);
    }
  }
}
