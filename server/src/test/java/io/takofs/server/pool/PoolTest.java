package io.takofs.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolTest {
  static final PoolSizes SMALL =
      new PoolSizes(PoolSizes.PAGES_MIN, PoolSizes.LOG_MIN, PoolSizes.DATA_MIN);

  @TempDir Path directory;

  @Test
  void shouldKeepBytesAndIdentityAndCountEpochs() throws Exception {
    Pool.format(directory, SMALL);
    long id;
    try (Pool pool = Pool.open(directory)) {
      id = pool.poolId();
      assertThat(pool.epoch()).isEqualTo(1);
      assertThat(pool.sizes()).isEqualTo(SMALL);
      pool.pages().slice(SMALL.pages() - 8, 8).putLong(0, 11);
      pool.log().slice(0, 8).putLong(0, 12);
      pool.log().slice(SMALL.log() - 8, 8).putLong(0, 13);
      pool.arenas().get(0).slice(SMALL.data() - 8, 8).putLong(0, 14);
    }
    try (Pool pool = Pool.open(directory)) {
      assertThat(pool.poolId()).isEqualTo(id);
      assertThat(pool.epoch()).isEqualTo(2);
      assertThat(pool.pages().slice(SMALL.pages() - 8, 8).getLong(0)).isEqualTo(11);
      assertThat(pool.log().slice(0, 8).getLong(0)).isEqualTo(12);
      assertThat(pool.log().slice(SMALL.log() - 8, 8).getLong(0)).isEqualTo(13);
      assertThat(pool.arenas().get(0).slice(SMALL.data() - 8, 8).getLong(0)).isEqualTo(14);
    }
  }
}
