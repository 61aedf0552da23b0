package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.FileInfo;
import io.takofs.proto.Listing;
import org.junit.jupiter.api.Test;

class PathStatusTest {
  private static PathStatus of(String path) {
    return PathStatus.of(path, FileInfo.getDefaultInstance());
  }

  private static PathStatus listed(String path, String name) throws TakoException {
    Listing listing =
        Listing.newBuilder()
            .addNames(name)
            .addDirectories(false)
            .addUnderConstruction(false)
            .addIds(1)
            .addLengths(2)
            .addPermissions(0644)
            .addPrincipals("me")
            .addOwners(0)
            .addGroups(0)
            .addModificationTimesMs(3)
            .addAccessTimesMs(4)
            .addReplications(1)
            .addBlockSizes(5)
            .addVersions(6)
            .build();
    return new ListingPage(path, listing).get(0);
  }

  @Test
  void shouldKnowParentAndNameOfEveryPath() throws TakoException {
    for (String[] each : new String[][] {{"/", "", ""}, {"/a", "/", "a"}, {"/a/b", "/a", "b"}}) {
      PathStatus status = of(each[0]);
      assertThat(status.path()).isEqualTo(each[0]);
      assertThat(status.parent()).isEqualTo(each[1]);
      assertThat(status.name()).isEqualTo(each[2]);
    }
    assertThat(listed("/", "a").path()).isEqualTo("/a");
    assertThat(listed("/a", "b").path()).isEqualTo("/a/b");
    assertThat(listed("/f", "").path()).isEqualTo("/f");
    assertThat(listed("/d/f", "").path()).isEqualTo("/d/f");
    assertThat(listed("/d/f", "").parent()).isEqualTo("/d");
  }
}
