package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.impl.NatObject;
import io.takofs.jni.NativeControl;
import io.takofs.jni.NativeError;
import java.io.IOException;

/**
 * A completion channel ({@code ibv_comp_channel}).
 *
 * <p>Thread rule: any thread.
 */
final class VerbsChannel implements AutoCloseable {
  private final VerbsResources resources;
  private final IbvCompChannel channel;
  private final int fileDescriptor;

  VerbsChannel(VerbsResources resources, IbvCompChannel channel) throws IOException {
    this.resources = resources;
    this.channel = channel;
    resources.add(VerbsResources.Kind.CHANNEL, this);
    fileDescriptor =
        NativeError.check(
            NativeControl.channelDescriptor(pointer()), "making a completion channel non-blocking");
  }

  IbvCompChannel channel() {
    return channel;
  }

  /** The {@code ibv_comp_channel}. */
  long pointer() {
    return ((NatObject) channel).getObjId();
  }

  /** Its file descriptor, non-blocking: poll it together with others. */
  int fileDescriptor() {
    return fileDescriptor;
  }

  /** Needs its completion queues closed. */
  @Override
  public void close() {
    if (!resources.remove(VerbsResources.Kind.CHANNEL, this)) {
      return;
    }
    try {
      VerbsResources.checkDestroyed(channel.destroyCompChannel(), "a completion channel");
    } catch (IOException e) {
      throw new IllegalStateException("a completion channel could not be destroyed", e);
    }
  }
}
