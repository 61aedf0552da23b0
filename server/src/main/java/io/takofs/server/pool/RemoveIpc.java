package io.takofs.server.pool;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Whether systemd's logind removes a pool when its owner logs out: RemoveIPC in logind.conf(5).
 *
 * <p>Thread rule: any thread.
 */
public final class RemoveIpc {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** From the weakest to the strongest. */
  private static final List<String> CONFIGURATIONS =
      List.of("usr/lib/systemd", "usr/local/lib/systemd", "run/systemd", "etc/systemd");

  private static final Set<String> NO = Set.of("no", "n", "false", "f", "off", "0");
  private static final Set<String> YES = Set.of("yes", "y", "true", "t", "on", "1");
  private static final int SYSTEM_USER_MAX = 999;

  private final Path root;
  private final long user;

  /**
   * @param root of the file system
   * @param user numeric id
   */
  RemoveIpc(Path root, long user) {
    this.root = root;
    this.user = user;
  }

  /** Of this machine and user. */
  public static RemoveIpc ofThisProcess() {
    return new RemoveIpc(Path.of("/"), new UnixSystem().getUid());
  }

  /** Why a pool at {@code pool} is in danger; empty if it is not. */
  public Optional<String> danger(Path pool) throws IOException {
    boolean atRisk =
        pool.toAbsolutePath().normalize().startsWith(SHARED_MEMORY)
            && Files.isDirectory(root.resolve("run/systemd/seats")) // logind makes it
            && user > systemUserMax()
            && isOn();
    return atRisk
        ? Optional.of(
            "logind removes the pool %s at the last logout of user %d (RemoveIPC=yes)"
                .formatted(pool, user))
        : Optional.empty();
  }

  /** The remedy. */
  public static String advice() {
    return "run the server as a system user, or set RemoveIPC=no in /etc/systemd/logind.conf, or set"
        + " fs.tako.server.pool.path to a tmpfs of its own";
  }

  private long systemUserMax() throws IOException {
    Path file = root.resolve("etc/login.defs");
    if (Files.isReadable(file)) {
      for (String line : Files.readAllLines(file)) {
        String[] words = line.strip().split("\\s+", -1);
        if (words.length >= 2 && words[0].equals("SYS_UID_MAX") && words[1].matches("\\d{1,9}")) {
          return Long.parseLong(words[1]);
        }
      }
    }
    return SYSTEM_USER_MAX;
  }

  /** The last of all assignments holds; the default is yes. */
  private boolean isOn() throws IOException {
    Path main = null;
    TreeMap<String, Path> parts = new TreeMap<>();
    for (String configuration : CONFIGURATIONS) {
      Path file = root.resolve(configuration).resolve("logind.conf");
      main = Files.isReadable(file) ? file : main;
      Path directory = root.resolve(configuration).resolve("logind.conf.d");
      if (Files.isDirectory(directory)) {
        try (Stream<Path> files = Files.list(directory)) {
          files
              .filter(part -> part.toString().endsWith(".conf"))
              .forEach(part -> parts.put(part.getFileName().toString(), part));
        }
      }
    }
    boolean on = main == null || isOn(main, true);
    for (Path part : parts.values()) {
      on = isOn(part, on);
    }
    return on;
  }

  private static boolean isOn(Path file, boolean before) throws IOException {
    boolean on = before;
    boolean login = false;
    if (!Files.isReadable(file)) {
      return on;
    }
    for (String line : Files.readAllLines(file)) {
      String text = line.strip();
      if (text.startsWith("[")) {
        login = text.equals("[Login]");
      }
      String[] assignment = text.split("=", 2);
      if (login && assignment.length == 2 && assignment[0].strip().equals("RemoveIPC")) {
        String value = assignment[1].strip().toLowerCase(Locale.ROOT);
        on = YES.contains(value) || (on && !NO.contains(value));
      }
    }
    return on;
  }
}
