package io.takofs.hadoop;

import java.io.IOException;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.SafeMode;
import org.apache.hadoop.fs.SafeModeAction;

/**
 * The methods that Hadoop has since 3.3.6. {@link TakoFileSystem} has the methods that need no new
 * types.
 */
public abstract class Api336 extends BaseApi implements LeaseRecoverable, SafeMode {
  /**
   * Enters or leaves safe mode, or asks.
   *
   * @param checked of no meaning where there is one server
   * @return whether it is on afterwards
   */
  @Override
  public boolean setSafeMode(SafeModeAction action, boolean checked) throws IOException {
    return switch (action) {
      case GET -> reading().safeMode().isOn();
      case ENTER -> writing().safeMode().set(true);
      case LEAVE, FORCE_EXIT -> writing().safeMode().set(false);
    };
  }
}
