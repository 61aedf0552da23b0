package io.takofs.cli.doctor;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.takofs.server.pool.RemoveIpc;
import io.takofs.server.report.Sizes;
import io.takofs.transport.RefusingAcceptor;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Checks the abilities of this process without an RDMA device.
 *
 * <p>Thread rule: one thread.
 */
public final class HostChecks {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** Room for the queues of a few connections and their buffers. */
  private static final long SHARED_MEMORY_MIN = 64 << 20;

  private final Diagnosis diagnosis;
  private final Path pool;

  /**
   * Checks to come.
   *
   * @param diagnosis to which they add
   * @param pool where a server of this host has its pool
   */
  public HostChecks(Diagnosis diagnosis, Path pool) {
    this.diagnosis = diagnosis;
    this.pool = pool;
  }

  /** Checks. */
  public void run() throws IOException {
    checkLibrary();
    checkSharedMemory();
    checkHugePages();
    checkTcp();
    checkLogout();
  }

  private void checkLogout() throws IOException {
    RemoveIpc.ofThisProcess()
        .danger(pool)
        .ifPresent(danger -> diagnosis.problem(danger, RemoveIpc.advice()));
  }

  private void checkLibrary() {
    JsonObject section = diagnosis.section("native_library");
    Optional<String> cause = ShmTransport.unavailabilityCause();
    section.addProperty("loaded", cause.isEmpty());
    section.addProperty("platform", System.getProperty("os.arch"));
    cause.ifPresent(
        why ->
            diagnosis.problem(
                "the native library is not loaded: " + why,
                "use a build for this platform and a temporary directory from which libraries can"
                    + " be loaded; until then everything goes over tcp"));
  }

  /** Makes a transport, because a directory that looks right may still refuse. */
  private void checkSharedMemory() throws IOException {
    JsonObject section = diagnosis.section("shm");
    boolean usable = false;
    if (ShmTransport.unavailabilityCause().isEmpty()) {
      try (ShmTransport transport = ShmTransport.create()) {
        transport.allocateProtectionDomain();
        usable = true;
      } catch (IOException | RuntimeException e) {
        diagnosis.problem(
            "memory cannot be shared: " + e.getMessage(),
            "give this user a tmpfs at /dev/shm that it may write to");
      }
    }
    section.addProperty("usable", usable);
    boolean there = Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY);
    section.addProperty("dev_shm_writable", there);
    if (!there) {
      diagnosis.problem(
          "/dev/shm is not there or this user may not write to it",
          "mount it: mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
      return;
    }
    long free = Files.getFileStore(SHARED_MEMORY).getUsableSpace();
    section.addProperty("dev_shm_free_bytes", free);
    if (free < SHARED_MEMORY_MIN) {
      diagnosis.problem(
          "/dev/shm has " + Sizes.human(free) + " free",
          "remove what nobody uses there, or make it larger: mount -o remount,size=SIZE /dev/shm"
              + " (in a container: --shm-size)");
    }
  }

  private void checkHugePages() throws IOException {
    JsonObject section = diagnosis.section("huge_pages");
    section.addProperty("reserved", LinuxLimits.hugePagesReserved());
    section.addProperty("free", LinuxLimits.hugePagesFree());
    section.addProperty("size_bytes", LinuxLimits.hugePageBytes());
    section.addProperty(
        "transparent_on_tmpfs",
        LinuxLimits.choice(Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled")));
    JsonArray mounts = new JsonArray();
    LinuxLimits.mounts("hugetlbfs").forEach(mounts::add);
    section.add("hugetlbfs", mounts);
  }

  private void checkTcp() {
    JsonObject section = diagnosis.section("tcp");
    boolean usable = false;
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT)) {
      transport.listen("127.0.0.1:0", new RefusingAcceptor("nothing is served here")).close();
      usable = true;
    } catch (IOException e) {
      diagnosis.problem("tcp does not work on this host: " + e.getMessage(), "ip link set lo up");
    }
    section.addProperty("usable", usable);
  }
}
