package io.takofs.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.util.DiSNILogger;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** DiSNI with our natives, as far as it goes without a device. */
class VerbsLibraryTest {
  @BeforeAll
  static void needLibrary() {
    assumeTrue(VerbsLibrary.isAvailable(), () -> VerbsLibrary.unavailabilityCause().orElseThrow());
  }

  @Test
  void shouldBeTheLibraryThatDisniLoads() throws Exception {
    assertThat(RdmaVerbs.open()).isNotNull();
    assertThat(RdmaVerbs.getVersion()).isEqualTo(32);
  }

  @Test
  void shouldLetDisniTakeAddressesOfBuffersWithoutAFlag() {
    assertThat(MemoryAllocation.getInstance().allocate(64).address()).isNotZero();
  }

  @Test
  void shouldAgreeWithDisniOnTheSizeOfWhatItWrites() throws Exception {
    NativeDispatcher natives = newDispatcher();
    assertThat(natives._getSockAddrInSize()).isEqualTo(28);
    assertThat(natives._getIbvWCSize()).isEqualTo(48);
    assertThat(natives._getIbvSgeSize()).isEqualTo(16);
    assertThat(natives._getIbvRecvWRSize()).isEqualTo(32);
    assertThat(natives._getIbvSendWRSize()).isEqualTo(128);
  }

  @Test
  void shouldRefuseWhatDoesNotGoThroughDisni() throws Exception {
    NativeDispatcher natives = newDispatcher();
    assertThatThrownBy(() -> natives._postSend(0, 0)).hasMessageContaining("posting and polling");
    assertThatThrownBy(() -> natives._pollCQ(0, 1, 0)).hasMessageContaining("posting and polling");
  }

  @Test
  void shouldKeepDisniQuiet() {
    assertThat(DiSNILogger.getLogger().isInfoEnabled()).isFalse();
  }

  @Test
  void shouldSayThatAnotherClassLoaderHasIt() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String element : NativeLibraryTest.classPath().split(File.pathSeparator, -1)) {
      urls.add(Path.of(element).toUri().toURL());
    }
    try (URLClassLoader other =
        new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Object cause =
          other
              .loadClass(VerbsLibrary.class.getName())
              .getMethod("unavailabilityCause")
              .invoke(null);
      assertThat(cause.toString()).contains("DiSNI").contains("another classloader");
    }
  }

  private static NativeDispatcher newDispatcher() throws ReflectiveOperationException {
    Constructor<NativeDispatcher> constructor = NativeDispatcher.class.getDeclaredConstructor();
    constructor.setAccessible(true);
    return constructor.newInstance();
  }
}
