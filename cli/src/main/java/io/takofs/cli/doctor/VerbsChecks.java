package io.takofs.cli.doctor;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.takofs.server.report.Sizes;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.verbs.DeviceFacts;
import io.takofs.transport.verbs.VerbsDiagnosis;
import io.takofs.transport.verbs.VerbsTransport;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Checks the abilities of this process over RDMA devices.
 *
 * <p>Thread rule: one thread.
 */
public final class VerbsChecks {
  /** A directory a device, whether or not there is a library to use it with. */
  private static final File DEVICES = new File("/sys/class/infiniband");

  private final Diagnosis diagnosis;
  private final JsonObject section;

  /** Checks to come, which add to {@code diagnosis}. */
  public VerbsChecks(Diagnosis diagnosis) {
    this.diagnosis = diagnosis;
    this.section = diagnosis.section("verbs");
  }

  /** Checks. A host without a device has no problem, for it has the other transports. */
  public void run() throws IOException {
    Optional<String> cause = VerbsDiagnosis.libraryCause();
    section.addProperty("libraries_loaded", cause.isEmpty());
    boolean devices = listDevices();
    checkLockedMemory(devices);
    if (ShmTransport.unavailabilityCause().isPresent()) {
      return; // Verbs need the native library first, and that it is missing is said already.
    }
    if (cause.isEmpty()) {
      checkPorts(devices);
    } else if (devices) {
      diagnosis.problem(
          "the libraries for verbs are not loaded: " + cause.get(),
          "install rdma-core: the packages libibverbs1, librdmacm1 and ibverbs-providers");
    }
  }

  /** Names the devices that the kernel has; false if there is none. */
  private boolean listDevices() throws IOException {
    String[] names = DEVICES.list();
    JsonArray devices = new JsonArray();
    for (String name : names == null ? new String[0] : names) {
      devices.add(name);
    }
    section.add("devices", devices);
    boolean softRoce = LinuxLimits.hasModule("rdma_rxe");
    section.addProperty("kernel_has_soft_roce", softRoce);
    if (devices.isEmpty()) {
      section.addProperty("remark", withoutDevice(softRoce));
    }
    return !devices.isEmpty();
  }

  private static String withoutDevice(boolean softRoce) {
    return "this host has no RDMA device, so tcp is used between hosts; with an RDMA adapter: install"
        + " its driver; "
        + (softRoce
            ? "without: make a soft-RoCE device of a network interface, as root: rdma link add rxe0"
                + " type rxe netdev INTERFACE (rdma is in iproute2)"
            : "without: this kernel has no module rdma_rxe for a soft-RoCE device; bin/vm boots a"
                + " virtual machine that has one");
  }

  private void checkLockedMemory(boolean devices) throws IOException {
    OptionalLong limit = LinuxLimits.lockedMemory();
    boolean exempt = LinuxLimits.mayLockAnyMemory();
    if (limit.isPresent()) {
      section.addProperty("memlock_limit_bytes", limit.getAsLong());
    } else {
      section.addProperty("memlock_limit_bytes", "unlimited");
    }
    section.addProperty("memlock_exempt", exempt);
    if (devices && limit.isPresent() && !exempt) {
      diagnosis.problem(
          "this process may lock no more than "
              + Sizes.human(limit.getAsLong())
              + ", and registered memory is locked: a server registers all of its pool for each client",
          "ulimit -l unlimited, for good in /etc/security/limits.conf (memlock); for a service"
              + " LimitMEMLOCK=infinity");
    }
  }

  private void checkPorts(boolean devices) throws IOException {
    List<VerbsDiagnosis.Port> ports;
    try {
      ports = VerbsDiagnosis.ports();
    } catch (IOException e) {
      diagnosis.problem(
          "the RDMA devices cannot be asked: " + e.getMessage(),
          "let this user read and write /dev/infiniband/uverbs* and /dev/infiniband/rdma_cm");
      return;
    }
    if (ports.isEmpty() && devices) {
      diagnosis.problem(
          "the kernel has RDMA devices, but libibverbs finds none of them",
          "load their interface (modprobe ib_uverbs) and install their part of libibverbs"
              + " (ibverbs-providers)");
    }
    JsonArray described = new JsonArray();
    section.add("ports", described);
    for (VerbsDiagnosis.Port port : ports) {
      described.add(describe(port));
    }
  }

  private JsonObject describe(VerbsDiagnosis.Port port) throws IOException {
    DeviceFacts facts = port.facts();
    JsonObject object = new JsonObject();
    object.addProperty("device", facts.device());
    object.addProperty("port", facts.port());
    object.addProperty("state", facts.portState());
    object.addProperty("link_layer", facts.linkLayer());
    object.addProperty("active_mtu", facts.activeMtu());
    object.addProperty("gid_index", facts.gidIndex());
    object.addProperty("gid_type", facts.gidIndex() < 0 ? "none" : facts.gidType());
    JsonArray addresses = new JsonArray();
    port.addresses().forEach(address -> addresses.add(address.getHostAddress()));
    object.add("addresses", addresses);
    object.addProperty("max_queue_pairs", facts.maxQueuePairs());
    object.addProperty("max_queue_pair_work", facts.maxQueuePairWork());
    object.addProperty("max_completions", facts.maxCompletions());
    object.addProperty("max_regions", facts.maxRegions());
    object.addProperty("max_region_bytes", facts.maxRegionBytes());
    object.addProperty("max_scatter_gather", facts.maxScatterGather());
    object.addProperty("max_inline", facts.maxInline());
    object.addProperty("max_reads_outstanding", facts.maxReads());
    object.addProperty("atomics", facts.atomics());
    object.addProperty("memory_windows_2b", facts.windows2B());
    object.addProperty(
        "data_in_order",
        facts.dataInOrder().map(known -> known ? "yes" : "no").orElse("not known"));
    checkConnectable(port);
    if (!port.addresses().isEmpty()) {
      if (facts.windows2B()) {
        object.addProperty("memory_window_bounds", tryWindowBounds(port.addresses().get(0)));
      }
      object.addProperty("registers_huge_pages", tryHugePages(port.addresses().get(0)));
    }
    return object;
  }

  private void checkConnectable(VerbsDiagnosis.Port port) {
    DeviceFacts facts = port.facts();
    String name = "port " + facts.port() + " of " + facts.device();
    if (!facts.isActive()) {
      boolean waits = facts.linkLayer().equals("InfiniBand") && facts.portState().equals("INIT");
      diagnosis.problem(
          name + " is " + facts.portState(),
          waits
              ? "start a subnet manager (opensm), or look at the one of this fabric"
              : "check the cable and the switch, and bring the network interface up: ip link set"
                  + " INTERFACE up (rdma link shows which)");
    } else if (port.addresses().isEmpty()) {
      diagnosis.problem(
          name + " is active but none of this host's IPv4 addresses leads to it",
          "give its network interface one: ip addr add ADDRESS/BITS dev INTERFACE (rdma link shows"
              + " which)");
    }
  }

  private static String tryWindowBounds(InetAddress address) {
    try (VerbsTransport transport = VerbsTransport.create(Optional.of(address))) {
      return transport.tryWindowBounds() ? "yes" : "no";
    } catch (IOException e) {
      return "not known: " + e.getMessage();
    }
  }

  private String tryHugePages(InetAddress address) throws IOException {
    if (LinuxLimits.hugePagesReserved() == 0) {
      return "not tried: none are reserved (sysctl vm.nr_hugepages)";
    }
    if (LinuxLimits.hugePagesFree() == 0) {
      return "not tried: none of the reserved ones is free";
    }
    try {
      VerbsDiagnosis.tryHugePage(address, LinuxLimits.hugePageBytes());
      return "yes";
    } catch (IOException e) {
      diagnosis.problem(
          "huge pages cannot be registered: " + e.getMessage(),
          "allow more locked memory (ulimit -l), or keep the pool on tmpfs");
      return "no";
    }
  }
}
