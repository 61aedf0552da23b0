package io.takofs.server.catalog;

import com.google.protobuf.ByteString;
import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/**
 * The secret by which servers know each other, {@code fs.tako.cluster.secret.file}; without one all
 * are believed.
 *
 * <p>Thread rule: immutable, any thread.
 */
public final class ServerSecret {
  /** No secret: nothing is signed and all is good. */
  public static final ServerSecret NONE = new ServerSecret(new byte[0]);

  private static final int MIN = 16;

  private static final Set<PosixFilePermission> PRIVATE =
      Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private final byte[] secret;

  private ServerSecret(byte[] secret) {
    this.secret = secret;
  }

  /**
   * The secret in a file: its text, without blanks around it.
   *
   * @param file empty for none
   * @throws TakoException when it cannot be read (UNAVAILABLE), is another user's or readable by
   *     others (PERMISSION_DENIED), or has less than 16 characters (INVALID_ARGUMENT)
   */
  public static ServerSecret read(String file) throws TakoException {
    if (file.isEmpty()) {
      return NONE;
    }
    Path path = Path.of(file);
    try {
      Ownership.requireTrusted(path);
      Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
      if (!PRIVATE.containsAll(mode)) {
        throw new TakoException(
            Status.PERMISSION_DENIED,
            path + " has the cluster's secret and others may use it: chmod 600 " + path);
      }
      String text = Files.readString(path).strip();
      if (text.length() < MIN) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            "%s (%s) has %d characters; a secret has at least %d"
                .formatted(path, ConfigKeys.SECRET_FILE, text.length(), MIN));
      }
      return new ServerSecret(text.getBytes(StandardCharsets.UTF_8));
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "cannot read the cluster's secret "
              + path
              + " ("
              + e
              + "): correct"
              + " fs.tako.cluster.secret.file",
          e);
    }
  }

  /** Whether there is one. */
  public boolean isSet() {
    return secret.length > 0;
  }

  /** {@code session} with the authenticator for the server that is called. */
  public OpenServerSession sign(OpenServerSession session, int called) {
    return isSet()
        ? session.toBuilder()
            .setAuthenticator(ByteString.copyFrom(sign(message(session, called))))
            .build()
        : session;
  }

  /** Whether a server of this cluster opens {@code session} at server {@code called}. */
  public boolean isGood(OpenServerSession session, int called) {
    return isGood(message(session, called), session.getAuthenticator().toByteArray());
  }

  private static byte[] message(OpenServerSession session, int called) {
    return Authenticator.message(3 * Integer.BYTES + 3 * Long.BYTES)
        .putInt(session.getProtocolVersion())
        .putLong(session.getLayoutHash())
        .putLong(session.getClusterId())
        .putInt(session.getServer())
        .putLong(session.getChallenge())
        .putInt(called)
        .array();
  }

  /** A key of 32 bytes that follows from the secret, which must be set, and {@code use}. */
  public byte[] derive(byte[] use) {
    return Authenticator.whole(secret, use);
  }

  /** The authenticator of any message; empty without a secret. */
  public byte[] sign(byte[] message) {
    return isSet() ? Authenticator.of(secret, message) : new byte[0];
  }

  /** Whether one with this secret has signed {@code message}; true without a secret. */
  public boolean isGood(byte[] message, byte[] authenticator) {
    return !isSet() || Authenticator.isGood(secret, message, authenticator);
  }
}
