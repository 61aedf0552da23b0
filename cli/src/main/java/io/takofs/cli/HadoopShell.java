package io.takofs.cli;

import io.takofs.config.ConfigKey;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * Hadoop's shell over the plug-in. Its jars stand last on the class path of this program, which is
 * not compiled with them; the plug-in so uses this program's client.
 *
 * <p>Thread rule: one thread.
 */
final class HadoopShell {
  /** Bytes copied at a time. */
  private static final String BUFFER = "1048576";

  private final TakoConfig config;
  private final String user;

  /**
   * A shell.
   *
   * @param config whose keys that are not at their default, and whose clusters' names, its file
   *     systems have
   */
  HadoopShell(TakoConfig config, String user) {
    this.config = config;
    this.user = user;
  }

  /**
   * Runs one command.
   *
   * @param fileSystem of paths without one; null where no path is given
   * @return the exit code
   * @throws IOException when the jars are missing
   */
  int run(URI fileSystem, List<String> words) throws IOException {
    // Hadoop asks for it once, when somebody first wants to know who he is.
    System.setProperty("HADOOP_USER_NAME", user);
    ClassLoader hadoop = HadoopShell.class.getClassLoader();
    try {
      Class<?> configurationType = hadoop.loadClass("org.apache.hadoop.conf.Configuration");
      Class<?> toolType = hadoop.loadClass("org.apache.hadoop.util.Tool");
      Class<?> runner = hadoop.loadClass("org.apache.hadoop.util.ToolRunner");
      Object configuration = configurationType.getConstructor().newInstance();
      var set = configurationType.getMethod("set", String.class, String.class);
      for (String[] setting : settings(fileSystem)) {
        set.invoke(configuration, setting[0], setting[1]);
      }
      Object shell =
          hadoop.loadClass("org.apache.hadoop.fs.FsShell").getConstructor().newInstance();
      return (int)
          runner
              .getMethod("run", configurationType, toolType, String[].class)
              .invoke(null, configuration, shell, words.toArray(new String[0]));
    } catch (InvocationTargetException e) {
      throw new IOException("the shell failed: " + e.getCause(), e.getCause());
    } catch (ClassNotFoundException e) {
      throw new IOException(
          "Hadoop's client is not on the class path: unpack the release again, or build Tako (mvn"
              + " package -DskipTests)",
          e);
    } catch (ReflectiveOperationException e) {
      throw new IOException("these are not the jars of Hadoop's client: " + e, e);
    }
  }

  private List<String[]> settings(URI fileSystem) {
    List<String[]> settings = new ArrayList<>();
    if (fileSystem != null) {
      settings.add(new String[] {"fs.defaultFS", fileSystem.toString()});
    }
    settings.add(new String[] {"fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs"});
    settings.add(new String[] {"io.file.buffer.size", BUFFER});
    for (ConfigKey<?> key : ConfigKeys.all()) {
      if (!config.text(key).equals(key.defaultText())) {
        settings.add(new String[] {key.name(), config.text(key)});
      }
    }
    config.clusterKeys().forEach((key, text) -> settings.add(new String[] {key, text}));
    return settings;
  }
}
