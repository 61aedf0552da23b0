package io.takofs.server.catalog.raft;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ServerSecret;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals what travels over one connection to a peer of the catalog, for nobody without the secret to
 * read, to change or to repeat. Each direction has a key, which follows from the secret and from a
 * number that each side has drawn for the connection; so the key is another one for each
 * connection, and the number of a call serves as the cipher's nonce.
 *
 * <p>Without a secret nothing is sealed.
 *
 * <p>Thread rule: any thread.
 */
final class CatalogSeal {
  /** Bytes of the number that each side draws. */
  static final int NONCE = 16;

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int IV = 12;
  private static final int TAG_BITS = 128;

  /** Calls may overtake each other by so many; an older one is refused as repeated. */
  private static final int WINDOW = Long.SIZE;

  private final SecretKeySpec calls; // null without a secret
  private final SecretKeySpec answers;
  private long highest;
  private long seen; // bit n: highest - n was there

  private CatalogSeal(SecretKeySpec calls, SecretKeySpec answers) {
    this.calls = calls;
    this.answers = answers;
  }

  /**
   * The seal of a connection.
   *
   * @param caller the number that the caller has drawn
   * @param called the number that the called peer has drawn
   */
  static CatalogSeal of(ServerSecret secret, byte[] caller, byte[] called) {
    return secret.isSet()
        ? new CatalogSeal(key(secret, 1, caller, called), key(secret, 2, caller, called))
        : new CatalogSeal(null, null);
  }

  private static SecretKeySpec key(ServerSecret secret, int use, byte[] caller, byte[] called) {
    return new SecretKeySpec(secret.derive(text(use, caller, called)), "AES");
  }

  /** Proves to the caller that the called peer knows the secret; empty without one. */
  static byte[] proof(ServerSecret secret, byte[] caller, byte[] called) {
    return secret.isSet() ? secret.sign(text(3, caller, called)) : new byte[0];
  }

  /** Whether {@code proof} is one by a peer with the same secret. */
  static boolean isGood(ServerSecret secret, byte[] caller, byte[] called, byte[] proof) {
    return secret.isGood(text(3, caller, called), proof);
  }

  private static byte[] text(int use, byte[] caller, byte[] called) {
    return ByteBuffer.allocate(1 + caller.length + called.length)
        .put((byte) use)
        .put(caller)
        .put(called)
        .array();
  }

  byte[] sealCall(long number, byte[] call) {
    return calls == null ? call : seal(calls, number, call);
  }

  byte[] sealAnswer(long number, byte[] answer) {
    return answers == null ? answer : seal(answers, number, answer);
  }

  private static byte[] seal(SecretKeySpec key, long number, byte[] text) {
    try {
      return cipher(Cipher.ENCRYPT_MODE, key, number).doFinal(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + CIPHER, e);
    }
  }

  /**
   * Opens a call.
   *
   * @throws TakoException PERMISSION_DENIED when it was not sealed under the same secret, or was
   *     there before
   */
  byte[] openCall(long number, byte[] sealed) throws TakoException {
    if (calls == null) {
      return sealed;
    }
    byte[] call = open(calls, number, sealed);
    if (!isNew(number)) {
      throw new TakoException(
          Status.PERMISSION_DENIED, "call " + number + " to the catalog's peer is a repeated one");
    }
    return call;
  }

  byte[] openAnswer(long number, byte[] sealed) throws TakoException {
    return answers == null ? sealed : open(answers, number, sealed);
  }

  private static byte[] open(SecretKeySpec key, long number, byte[] sealed) throws TakoException {
    try {
      return cipher(Cipher.DECRYPT_MODE, key, number).doFinal(sealed);
    } catch (GeneralSecurityException e) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "a message of the catalog was not sealed with this side's secret;"
              + " fs.tako.cluster.secret.file must be the same on all servers",
          e);
    }
  }

  private static Cipher cipher(int mode, SecretKeySpec key, long number)
      throws GeneralSecurityException {
    byte[] iv = ByteBuffer.allocate(IV).putLong(IV - Long.BYTES, number).array();
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, iv));
    return cipher;
  }

  private synchronized boolean isNew(long number) {
    if (number > highest) {
      long ahead = number - highest;
      seen = (ahead >= WINDOW ? 0 : seen << ahead) | 1;
      highest = number;
      return true;
    }
    long behind = highest - number;
    if (behind >= WINDOW || (seen & 1L << behind) != 0) {
      return false;
    }
    seen |= 1L << behind;
    return true;
  }
}
