package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.takofs.base.TakoException;
import io.takofs.proto.FileInfo;
import io.takofs.proto.Listing;
import io.takofs.proto.Status;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PathStatusTest {
  private static PathStatus of(String path) {
    return PathStatus.of(path, FileInfo.getDefaultInstance());
  }

  private static PathStatus listed(String path, String name) throws IOException {
    byte[] bytes = new byte[64];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeUInt32NoTag(0);
    out.writeStringNoTag(name);
    out.writeFixed64NoTag(1);
    out.writeUInt32NoTag(0644);
    out.writeUInt32NoTag(0);
    out.writeUInt32NoTag(0);
    out.writeSInt64NoTag(3);
    out.writeSInt64NoTag(1);
    out.writeUInt64NoTag(2);
    out.writeUInt32NoTag(1);
    out.writeUInt64NoTag(5);
    out.writeUInt64NoTag(6);
    Listing listing =
        Listing.newBuilder()
            .setEntries(ByteString.copyFrom(bytes, 0, out.getTotalBytesWritten()))
            .addPrincipals("me")
            .build();
    return new ListingPage(path, listing).next();
  }

  @Test
  void shouldKnowParentAndNameOfEveryPath() throws IOException {
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

  @Test
  void shouldRefuseAListingThatCannotBeRead() {
    Listing cut = Listing.newBuilder().setEntries(ByteString.copyFromUtf8("\0\u0001")).build();
    assertThatThrownBy(() -> new ListingPage("/d", cut).next())
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.MALFORMED));
  }
}
