package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** One call to the client, with Hadoop's exceptions instead of the client's. */
@FunctionalInterface
interface Call<T> {
  /** Does it; {@code name} is the server's name of the path. */
  T on(String name) throws IOException;

  /** The result of {@code call} on {@code path}, which has to be there. */
  static <T> T to(Path path, Call<T> call) throws IOException {
    try {
      return call.on(PathNames.of(path));
    } catch (TakoException e) {
      throw ErrorTranslation.translateLookup(e, path.toString());
    }
  }
}
