package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Extended attributes through both of Hadoop's interfaces. */
class XAttrTest {
  private static final Path FILE = new Path("/xattrs");
  private static final byte[] ONE = {1};

  private FileSystem fs;
  private FileContext context;

  @BeforeEach
  void connect() throws IOException {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fs = FileSystem.newInstance(conf);
    context = FileContext.getFileContext(conf);
    fs.create(FILE).close();
  }

  @AfterEach
  void disconnect() throws IOException {
    fs.delete(FILE, true);
    fs.close();
  }

  @Test
  void shouldKeepThemThroughBothInterfaces() throws IOException {
    fs.setXAttr(FILE, "user.one", ONE);
    context.setXAttr(FILE, "USER.empty", null);
    fs.setXAttr(FILE, "trusted.one", ONE);
    assertThat(fs.listXAttrs(FILE)).isEqualTo(context.listXAttrs(FILE));
    assertThat(fs.listXAttrs(FILE)).containsExactly("user.empty", "user.one", "trusted.one");
    assertThat(fs.getXAttrs(FILE).keySet()).containsExactlyElementsOf(fs.listXAttrs(FILE));
    assertThat(context.getXAttr(FILE, "user.one")).isEqualTo(ONE);
    assertThat(fs.getXAttr(FILE, "user.empty")).isEmpty();
    assertThat(context.getXAttrs(FILE, List.of("trusted.one", "user.one")).keySet())
        .containsExactly("trusted.one", "user.one");
    fs.removeXAttr(FILE, "user.one");
    context.removeXAttr(FILE, "trusted.one");
    assertThat(fs.getXAttrs(FILE)).containsOnlyKeys("user.empty");
    assertThat(fs.hasPathCapability(FILE, CommonPathCapabilities.FS_XATTRS)).isTrue();
    assertThat(context.hasPathCapability(FILE, CommonPathCapabilities.FS_XATTRS)).isTrue();
  }

  @Test
  void shouldReadMoreThanOneAnswerHolds() throws IOException {
    Random random = new Random(7);
    List<String> names = new ArrayList<>();
    List<byte[]> values = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      names.add("user.%02d".formatted(i));
      values.add(new byte[16000]);
      random.nextBytes(values.get(i));
      fs.setXAttr(FILE, names.get(i), values.get(i));
    }
    assertThat(fs.getXAttrs(FILE).keySet()).containsExactlyElementsOf(names);
    assertThat(new ArrayList<>(fs.getXAttrs(FILE, names).values()))
        .usingElementComparator(java.util.Arrays::compare)
        .isEqualTo(values);
    assertThatThrownBy(() -> fs.setXAttr(FILE, "user.more", ONE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("exceed limit");
  }

  @Test
  void shouldKeepTheLargestOfTheLongestPath() throws IOException {
    StringBuilder longest = new StringBuilder("/xattrs-below");
    while (longest.length() < 8000) {
      longest.append('/').append("d".repeat(Math.min(255, 8000 - longest.length())));
    }
    Path path = new Path(longest.toString());
    fs.mkdirs(path);
    byte[] value = new byte[16384 - "large".length()];
    new Random(8).nextBytes(value);
    fs.setXAttr(path, "user.large", value);
    assertThat(fs.getXAttr(path, "user.large")).isEqualTo(value);
    assertThatThrownBy(() -> fs.setXAttr(path, "user.larger", value))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("maximum combined size");
    fs.delete(new Path("/xattrs-below"), true);
  }

  @Test
  void shouldRefuseAsHdfsDoes() throws IOException {
    EnumSet<XAttrSetFlag> create = EnumSet.of(XAttrSetFlag.CREATE);
    fs.setXAttr(FILE, "user.one", ONE, create);
    assertThatThrownBy(() -> fs.setXAttr(FILE, "user.one", ONE, create))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("REPLACE flag");
    assertThatThrownBy(() -> fs.setXAttr(FILE, "user.two", ONE, EnumSet.of(XAttrSetFlag.REPLACE)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("CREATE flag");
    for (String name : List.of("one", "user", "user.", ".user", "other.one")) {
      assertThatThrownBy(() -> fs.setXAttr(FILE, name, ONE))
          .as(name)
          .isInstanceOf(HadoopIllegalArgumentException.class);
    }
    for (String name : List.of("system.one", "security.one", "raw.one")) {
      assertThatThrownBy(() -> fs.getXAttr(FILE, name))
          .as(name)
          .isInstanceOf(AccessControlException.class);
    }
    assertThatThrownBy(() -> fs.getXAttr(FILE, "user.two")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> fs.removeXAttr(FILE, "user.two")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> fs.listXAttrs(new Path("/missing")))
        .isInstanceOf(FileNotFoundException.class);
  }
}
