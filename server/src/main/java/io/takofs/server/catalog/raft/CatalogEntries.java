package io.takofs.server.catalog.raft;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.CatalogChange;
import io.takofs.proto.CatalogValues;
import io.takofs.proto.Status;
import io.takofs.server.catalog.CatalogCommand;
import io.takofs.server.catalog.CatalogState;

/** Changes and values of the catalog as its messages and its log have them. */
final class CatalogEntries {
  private CatalogEntries() {}

  static CatalogChange change(CatalogCommand command) {
    return CatalogChange.newBuilder()
        .setKind(
            switch (command.kind()) {
              case SET -> CatalogChange.Kind.SET;
              case RENEW -> CatalogChange.Kind.RENEW;
              case REMOVE -> CatalogChange.Kind.REMOVE;
              case EXPIRE -> CatalogChange.Kind.EXPIRE;
              case RESTORE -> CatalogChange.Kind.RESTORE;
            })
        .setKey(command.key())
        .setVersion(command.version())
        .setTtlMs(command.ttlMs())
        .setBytes(ByteString.copyFrom(command.bytes()))
        .build();
  }

  /**
   * The command of a change.
   *
   * @throws TakoException MALFORMED when it is of a later version of Tako
   */
  static CatalogCommand command(CatalogChange change) throws TakoException {
    CatalogCommand.Kind kind =
        switch (change.getKind()) {
          case SET -> CatalogCommand.Kind.SET;
          case RENEW -> CatalogCommand.Kind.RENEW;
          case REMOVE -> CatalogCommand.Kind.REMOVE;
          case EXPIRE -> CatalogCommand.Kind.EXPIRE;
          case RESTORE -> CatalogCommand.Kind.RESTORE;
          case KIND_UNKNOWN, UNRECOGNIZED ->
              throw new TakoException(
                  Status.MALFORMED, "the catalog has no change of kind " + change.getKindValue());
        };
    return new CatalogCommand(
        kind,
        change.getKey(),
        change.getVersion(),
        change.getTtlMs(),
        change.getBytes().toByteArray());
  }

  static CatalogValues values(CatalogState state, long nowMs) {
    CatalogValues.Builder values =
        CatalogValues.newBuilder()
            .setTimeMs(nowMs)
            .setExpired(!state.expired(nowMs).isEmpty())
            .setState(ByteString.copyFrom(state.encode()));
    return values.build();
  }
}
