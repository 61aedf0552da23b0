package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatObject;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeControl;
import io.takofs.jni.NativeError;
import io.takofs.jni.VerbsLibrary;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The control path of one RDMA device: protection domains, registrations, completion queues and
 * connections. Everything it makes has a native pointer for the data path. Users are closed before
 * the objects they use: listeners and connections, then completion queues, their channels,
 * registrations, domains, and this last, which closes whatever is left in that order.
 *
 * <p>Thread rule: any thread. Events of connections come from one thread of its own, on which
 * nothing may block.
 */
final class VerbsControl implements AutoCloseable {
  /** Bytes of private data that a connection request can carry. */
  static final int REQUEST_DATA_MAX = Layout.VERBS_REQUEST_DATA_MAX;

  /** Bytes of private data that an accept can carry. */
  static final int ACCEPT_DATA_MAX = Layout.VERBS_ACCEPT_DATA_MAX;

  /** Bytes of private data that a reject can carry. */
  static final int REJECT_DATA_MAX = Layout.VERBS_REJECT_DATA_MAX;

  /** Ports that are looked at; no host has so many. */
  private static final int PORTS_MAX = 64;

  private final ConnectionManager manager;
  private final VerbsResources resources = new VerbsResources();
  private final RdmaCmId anchor; // bound to the address: it keeps the device open
  private final InetAddress address;
  private final DeviceFacts facts;
  private final IbvContext context;

  private VerbsControl(
      ConnectionManager manager, RdmaCmId anchor, InetAddress address, DeviceFacts facts)
      throws IOException {
    this.manager = manager;
    this.anchor = anchor;
    this.address = address;
    this.facts = facts;
    context = anchor.getVerbs();
  }

  /**
   * Why verbs cannot be used at all on this host, for a person: no library, no device, no port that
   * is up. Empty if {@link #open} can be expected to work.
   */
  static Optional<String> unavailabilityCause() {
    if (!VerbsLibrary.isAvailable()) {
      return VerbsLibrary.unavailabilityCause();
    }
    try {
      List<DeviceFacts> devices = devices();
      if (devices.isEmpty()) {
        return Optional.of("this host has no RDMA device");
      }
      if (devices.stream().noneMatch(DeviceFacts::isActive)) {
        DeviceFacts first = devices.get(0);
        return Optional.of(
            "no RDMA device has an active port: port "
                + first.port()
                + " of "
                + first.device()
                + " is "
                + first.portState());
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** Every port of every device of this host, whether it is usable or not. */
  static List<DeviceFacts> devices() throws IOException {
    checkLibrary();
    try (NativeBlock block = new NativeBlock(PORTS_MAX * Layout.VERBS_DEVICE_SIZE)) {
      int found =
          NativeError.check(
              NativeControl.devices(block.address(), PORTS_MAX), "asking for the RDMA devices");
      List<DeviceFacts> devices = new ArrayList<>();
      for (int i = 0; i < Math.min(found, PORTS_MAX); i++) {
        devices.add(DeviceFacts.read(block, i * Layout.VERBS_DEVICE_SIZE));
      }
      return devices;
    }
  }

  /**
   * Opens the device that owns {@code address}, or with none the first with an active port.
   *
   * @throws IOException naming the address and what is wrong with it
   */
  static VerbsControl open(Optional<InetAddress> address) throws IOException {
    checkLibrary();
    List<InetAddress> candidates = address.isPresent() ? List.of(address.get()) : localAddresses();
    List<String> causes = new ArrayList<>();
    try (Undo undo = new Undo()) {
      ConnectionManager manager = undo.add(new ConnectionManager());
      for (InetAddress candidate : candidates) {
        VerbsControl control = tryOpen(manager, candidate, causes);
        if (control != null) {
          undo.keep();
          return control;
        }
      }
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "no RDMA device with an active port has an IPv4 address of this host: "
            + (causes.isEmpty() ? "it has none" : String.join("; ", causes)));
  }

  private static VerbsControl tryOpen(
      ConnectionManager manager, InetAddress address, List<String> causes) throws IOException {
    RdmaCmId anchor = manager.createId(event -> {}); // what happens to it, connections hear too
    try (Undo undo = new Undo();
        NativeBlock block = new NativeBlock(Layout.VERBS_DEVICE_SIZE)) {
      undo.add(() -> manager.destroy(anchor));
      anchor.bindAddr(new InetSocketAddress(address, 0));
      NativeError.check(
          NativeControl.query(ConnectionManager.pointer(anchor), block.address()),
          "asking its device");
      DeviceFacts facts = DeviceFacts.read(block, 0);
      if (facts.isActive()) {
        VerbsControl control = new VerbsControl(manager, anchor, address, facts);
        undo.keep();
        return control;
      }
      causes.add(address.getHostAddress() + ": " + facts.device() + " is " + facts.portState());
    } catch (IOException e) {
      causes.add(address.getHostAddress() + ": " + e.getMessage());
    }
    return null;
  }

  /** IPv4 addresses of this host that connections could come to. */
  static List<InetAddress> localAddresses() throws IOException {
    List<InetAddress> addresses = new ArrayList<>();
    for (NetworkInterface device : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      if (device.isUp() && !device.isLoopback()) {
        for (InetAddress address : Collections.list(device.getInetAddresses())) {
          if (address instanceof Inet4Address) {
            addresses.add(address);
          }
        }
      }
    }
    return addresses;
  }

  private static void checkLibrary() throws IOException {
    if (!VerbsLibrary.isAvailable()) {
      throw new TakoException(
          Status.UNSUPPORTED, VerbsLibrary.unavailabilityCause().orElse("no verbs library"));
    }
  }

  /** Address and port, without a look-up of names. */
  static String name(InetSocketAddress address) {
    return (address.getAddress() == null
            ? address.getHostString()
            : address.getAddress().getHostAddress())
        + ":"
        + address.getPort();
  }

  DeviceFacts facts() {
    return facts;
  }

  /** Local address that this device is reached by, as the connection manager takes it. */
  InetAddress address() {
    return address;
  }

  /** The {@code ibv_context}. */
  long context() {
    return ((NatObject) context).getObjId();
  }

  /**
   * Tries whether huge pages can be registered, with one.
   *
   * @param length bytes of a huge page, of which one must be free
   */
  void tryHugePage(long length) throws TakoException {
    NativeError.check(
        NativeControl.registerHugePage(context(), length),
        "registering a huge page with " + facts.device());
  }

  VerbsDomain allocateDomain() throws IOException {
    return new VerbsDomain(resources, context.allocPd());
  }

  /** A file descriptor that is readable when a completion queue it serves has an event. */
  VerbsChannel createChannel() throws IOException {
    return new VerbsChannel(resources, context.createCompChannel());
  }

  /**
   * @param capacity completions at least
   * @param channel that hears of its events
   */
  VerbsCompletions createCompletions(int capacity, VerbsChannel channel) throws IOException {
    try {
      return new VerbsCompletions(
          resources, context.createCQ(channel.channel(), capacity, 0), capacity);
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          facts.device()
              + " made no completion queue of "
              + capacity
              + " entries (it allows "
              + facts.maxCompletions()
              + "): "
              + e.getMessage(),
          e);
    }
  }

  /** Listens at a local address of this device; port 0 asks for a free one. */
  VerbsListener listen(InetSocketAddress address, ConnectionEvents events) throws IOException {
    checkIpv4(address);
    return new VerbsListener(manager, resources, address, events);
  }

  /**
   * Finds the way to a peer; blocks. The connection has no queue pair yet: create it, post
   * receives, then {@link VerbsConnection#connect}.
   *
   * @param events hears of its end; never of a request
   * @param timeoutNs for address and route together
   */
  VerbsConnection resolve(InetSocketAddress peer, ConnectionEvents events, long timeoutNs)
      throws IOException {
    checkIpv4(peer);
    return VerbsConnection.resolved(
        manager, resources, new InetSocketAddress(address, 0), peer, events, timeoutNs);
  }

  private static void checkIpv4(InetSocketAddress address) throws IOException {
    if (!(address.getAddress() instanceof Inet4Address)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          name(address) + " is no IPv4 address, and verbs connections need one");
    }
  }

  /** The {@code ibv_access_flags} of an access. Local writing is always allowed. */
  static int accessFlags(Access access) {
    int local = IbvMr.IBV_ACCESS_LOCAL_WRITE;
    return switch (access) {
      case LOCAL -> local;
      case REMOTE_READ -> local | IbvMr.IBV_ACCESS_REMOTE_READ;
      case REMOTE_READ_WRITE ->
          local | IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_WRITE;
      case REMOTE_ATOMIC ->
          local
              | IbvMr.IBV_ACCESS_REMOTE_READ
              | IbvMr.IBV_ACCESS_REMOTE_WRITE
              | IbvMr.IBV_ACCESS_REMOTE_ATOMIC;
    };
  }

  /** Closes what was not closed before it, and ends its thread. */
  @Override
  public void close() {
    resources.closeAll();
    synchronized (this) {
      if (anchor.isOpen()) {
        manager.destroy(anchor);
      }
    }
    manager.close();
  }
}
