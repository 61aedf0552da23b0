package io.takofs.hadoop;

import io.takofs.client.ServerUri;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.List;
import org.apache.hadoop.fs.FilterFileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets {@link TakoFileSystem} be loaded by a Hadoop that lacks interfaces it implements.
 *
 * <p>A class that implements an interface which is not there cannot be loaded, and Hadoop cannot be
 * told by code which class to take for a scheme. But it makes the classes in the file of services
 * in their order, before it looks at anything else. This one is first. If {@link NewestApi} cannot
 * be loaded, it defines another class of that name below the newest of {@link #LEVELS} that can.
 * Then {@code TakoFileSystem} follows, finds its superclass, and takes the scheme. Nothing is set
 * in any configuration, from where it would reach processes with another Hadoop.
 *
 * <p>Thread rule: any thread.
 */
public final class ApiSelection extends FilterFileSystem {
  private static final Logger LOG = LoggerFactory.getLogger(ApiSelection.class);

  private static final String NEWEST = "NewestApi";

  /** The classes that may replace {@link NewestApi}, newest first. */
  private static final List<String> LEVELS = List.of(NEWEST, "Api336", "BaseApi");

  private static final int MAGIC = 0xCAFEBABE;
  private static final int JAVA_17 = 61;
  private static final int ACC_PUBLIC_SUPER_ABSTRACT = 0x0421;
  private static final int UTF8 = 1;
  private static final int CLASS = 7;
  private static final int METHOD_REF = 10;
  private static final int NAME_AND_TYPE = 12;

  static {
    String level = newest();
    if (!level.equals(NEWEST)) {
      try {
        MethodHandles.lookup().defineClass(newestBelow(level));
      } catch (IllegalAccessException | IOException e) {
        throw new IllegalStateException("no class can be defined beside this one", e);
      }
    }
  }

  /**
   * Makes {@link TakoFileSystem} loadable for a class that Hadoop loads by another way than the
   * file of services. Loading this class has done it.
   */
  static void select() {}

  @Override
  public String getScheme() {
    return ServerUri.SCHEME;
  }

  /** The newest level that this Hadoop has everything for. */
  private static String newest() {
    for (String level : LEVELS) {
      try {
        Class.forName(named(level), false, ApiSelection.class.getClassLoader());
        return level;
      } catch (ClassNotFoundException | NoClassDefFoundError e) {
        LOG.debug("{} is for a newer Hadoop: {}", level, e.toString());
      }
    }
    throw new NoClassDefFoundError(String.join(", ", LEVELS));
  }

  private static String named(String simpleName) {
    return ApiSelection.class.getPackageName() + "." + simpleName;
  }

  /** {@code public abstract class NewestApi extends SUPER {}}, compiled. */
  private static byte[] newestBelow(String superclass) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(MAGIC);
    out.writeShort(0);
    out.writeShort(JAVA_17);
    out.writeShort(10); // constants, and one
    utf8(out, named(NEWEST).replace('.', '/')); // 1
    reference(out, CLASS, 1); // 2
    utf8(out, named(superclass).replace('.', '/')); // 3
    reference(out, CLASS, 3); // 4
    utf8(out, "<init>"); // 5
    utf8(out, "()V"); // 6
    reference(out, NAME_AND_TYPE, 5, 6); // 7
    reference(out, METHOD_REF, 4, 7); // 8
    utf8(out, "Code"); // 9
    shorts(
        out, ACC_PUBLIC_SUPER_ABSTRACT, 2, 4, 0, 0); // itself, superclass, no interfaces, no fields
    shorts(out, 1, 0, 5, 6, 1, 9); // one method, its constructor, with its code
    out.writeInt(17); // bytes of the attribute
    shorts(out, 1, 1); // stack, locals
    out.writeInt(5); // bytes of code
    out.write(new byte[] {0x2a, (byte) 0xb7, 0, 8, (byte) 0xb1}); // super(); return
    shorts(out, 0, 0, 0); // no handlers, no attributes of the code, none of the class
    return bytes.toByteArray();
  }

  private static void utf8(DataOutputStream out, String text) throws IOException {
    out.writeByte(UTF8);
    out.writeUTF(text);
  }

  private static void reference(DataOutputStream out, int kind, int... constants)
      throws IOException {
    out.writeByte(kind);
    shorts(out, constants);
  }

  private static void shorts(DataOutputStream out, int... values) throws IOException {
    for (int value : values) {
      out.writeShort(value);
    }
  }
}
