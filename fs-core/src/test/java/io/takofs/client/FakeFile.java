package io.takofs.client;

import com.google.protobuf.ByteString;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Truncate;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A file of a {@link FakeServer}, whose lock guards it. */
final class FakeFile {
  final long id;
  final TreeMap<Long, Extent> extents = new TreeMap<>();
  ByteString inline = ByteString.EMPTY;
  long version;
  long writer;
  int granted; // extents of replicated slabs that are neither committed nor given up
  private long length;

  FakeFile(long id) {
    this.id = id;
  }

  FileInfo info() {
    return FileInfo.newBuilder()
        .setId(id)
        .setLength(length)
        .setVersion(version)
        .setUnderConstruction(writer != 0)
        .build();
  }

  /** The file as its writer gets it, with the last extent if that has room. */
  OpenedFile opened() {
    OpenedFile.Builder opened =
        OpenedFile.newBuilder().setFile(info()).setLeaseEpoch(1).setInlineData(inline);
    if (!extents.isEmpty()) {
      Extent last = extents.lastEntry().getValue();
      if (last.getLength() < last.getCapacity()) {
        opened.setLastExtent(last);
      }
    }
    return opened.build();
  }

  /** Takes what was committed; returns what is wrong with the file then, or null. */
  String commit(CommitExtents commit) {
    if (commit.getExtentsCount() > 0) {
      inline = ByteString.EMPTY;
      NavigableMap<Long, Extent> former =
          extents.tailMap(commit.getExtents(0).getFileOffset(), true);
      granted += former.size() - commit.getExtentsCount();
      former.clear();
      commit.getExtentsList().forEach(extent -> extents.put(extent.getFileOffset(), extent));
    }
    if (commit.getInlineData().isEmpty() || commit.getInlineOffset() == inline.size()) {
      inline = inline.concat(commit.getInlineData());
    }
    length = commit.getLength();
    version++;
    if (commit.getClose()) {
      writer = 0;
    }
    long stored = 0;
    for (Extent extent : extents.values()) {
      if (extent.getFileOffset() != stored) {
        return "a gap at " + stored;
      }
      stored += extent.getLength();
    }
    stored += inline.size();
    return stored == length ? null : stored + " bytes, length " + length;
  }

  void truncate(Truncate request) {
    long inlineLength = request.getLength() - (length - inline.size());
    inline = inline.substring(0, (int) Math.max(0, inlineLength));
    length = request.getLength();
    extents.tailMap(length).clear();
    if (request.hasLastExtent()) {
      extents.put(request.getLastExtent().getFileOffset(), request.getLastExtent());
    }
    version++;
  }
}
