package io.takofs.layout;

/** Every memory and wire layout. Generated from native/include/tako/layout.def. */
public final class Layout {

  /** version of the wire protocol; peers must agree exactly. */
  public static final int PROTOCOL_VERSION = 1;

  /** version of the pool format; a newer pool is refused. */
  public static final int POOL_VERSION = 1;

  /** 'TAKO' in memory order, first word of a superblock. */
  public static final int POOL_MAGIC = 1330331988;

  /** 'TLOG' in memory order, first word of a segment header. */
  public static final int SEGMENT_MAGIC = 1196379220;

  /** calls outstanding on one connection, and receive credits each way. */
  public static final int RPC_SLOTS = 64;

  /** bytes of one request slot, header included. */
  public static final int RPC_REQUEST_SLOT_SIZE = 16384;

  /** bytes of one reply slot, header included. */
  public static final int RPC_REPLY_SLOT_SIZE = 65536;

  /** Bytes of the record {@code RPC_HEADER}. */
  public static final int RPC_HEADER_SIZE = 32;

  /** Offset of {@code RPC_HEADER.length}: payload bytes that follow the header. */
  public static final int RPC_HEADER_LENGTH_OFFSET = 0;

  /** Offset of {@code RPC_HEADER.crc32c}: CRC32C of bytes 8..32 and the payload. */
  public static final int RPC_HEADER_CRC32C_OFFSET = 4;

  /** Offset of {@code RPC_HEADER.client_id}: session that calls; 0 before a session is open. */
  public static final int RPC_HEADER_CLIENT_ID_OFFSET = 8;

  /** Offset of {@code RPC_HEADER.sequence}: number of the call within the session, from 1. */
  public static final int RPC_HEADER_SEQUENCE_OFFSET = 16;

  /** Offset of {@code RPC_HEADER.epoch}: incarnation of the server that is addressed; 0 = any. */
  public static final int RPC_HEADER_EPOCH_OFFSET = 24;

  /** kind of a connection that carries calls. */
  public static final int CONNECTION_RPC = 1;

  /** kind of a connection that only reads and writes the data zone. */
  public static final int CONNECTION_DATA = 2;

  /** Bytes of the record {@code CONNECTION}. */
  public static final int CONNECTION_SIZE = 56;

  /** Offset of {@code CONNECTION.protocol_version}: PROTOCOL_VERSION of the sender. */
  public static final int CONNECTION_PROTOCOL_VERSION_OFFSET = 0;

  /** Offset of {@code CONNECTION.kind}: CONNECTION_RPC or CONNECTION_DATA. */
  public static final int CONNECTION_KIND_OFFSET = 4;

  /** Offset of {@code CONNECTION.layout_hash}: layout hash of the sender. */
  public static final int CONNECTION_LAYOUT_HASH_OFFSET = 8;

  /** Offset of {@code CONNECTION.client_id}: session the connection belongs to; 0 for none yet. */
  public static final int CONNECTION_CLIENT_ID_OFFSET = 16;

  /** Offset of {@code CONNECTION.epoch}: incarnation of the server; 0 from a client. */
  public static final int CONNECTION_EPOCH_OFFSET = 24;

  /** Offset of {@code CONNECTION.address}: of the sender's slots: replies land at the client, requests at the server; 0 for DATA. */
  public static final int CONNECTION_ADDRESS_OFFSET = 32;

  /** Offset of {@code CONNECTION.rkey}: of the sender's slots; 0 for DATA. */
  public static final int CONNECTION_RKEY_OFFSET = 40;

  /** bytes of one arena of the data zone: one memory region. */
  public static final int ARENA_SIZE = 1073741824;

  /** bytes covered by one CRC32C. */
  public static final int GRANULE_SIZE = 4096;

  /** bytes of the smallest extent; every extent starts on a unit. */
  public static final int UNIT_SIZE = 65536;

  /** bytes of the largest extent. */
  public static final int EXTENT_SIZE_MAX = 1048576;

  /** bytes at the start of an arena: one CRC32C per granule. */
  public static final int ARENA_CHECKSUM_SIZE = 1048576;

  /** bytes of one log segment. */
  public static final int SEGMENT_SIZE = 8388608;

  /** offset of the first frame; the bytes before are the owner's CPU's only. */
  public static final int SEGMENT_DATA_OFFSET = 4096;

  /** offset of the second copy of the segment header. */
  public static final int SEGMENT_HEADER_COPY_B = 2048;

  /** offset of the first copy of the commit mark. */
  public static final int SEGMENT_MARK_A = 1024;

  /** offset of the second copy of the commit mark. */
  public static final int SEGMENT_MARK_B = 3072;

  /** largest payload of one frame. */
  public static final int FRAME_PAYLOAD_MAX = 1048576;

  /** frames start on and are padded to this. */
  public static final int FRAME_ALIGN = 8;

  /** Bytes of the record {@code SEGMENT_HEADER}. */
  public static final int SEGMENT_HEADER_SIZE = 128;

  /** Offset of {@code SEGMENT_HEADER.magic}: SEGMENT_MAGIC. */
  public static final int SEGMENT_HEADER_MAGIC_OFFSET = 0;

  /** Offset of {@code SEGMENT_HEADER.version}: POOL_VERSION. */
  public static final int SEGMENT_HEADER_VERSION_OFFSET = 4;

  /** Offset of {@code SEGMENT_HEADER.state}: FREE 0, OPEN 1, SEALED 2, FLUSHED 3. */
  public static final int SEGMENT_HEADER_STATE_OFFSET = 6;

  /** Offset of {@code SEGMENT_HEADER.log_id}: log the segment belongs to. */
  public static final int SEGMENT_HEADER_LOG_ID_OFFSET = 8;

  /** Offset of {@code SEGMENT_HEADER.replica_incarnation}: incarnation of the replica that owns it. */
  public static final int SEGMENT_HEADER_REPLICA_INCARNATION_OFFSET = 12;

  /** Offset of {@code SEGMENT_HEADER.segment_sequence}: position in the chain, never reused. */
  public static final int SEGMENT_HEADER_SEGMENT_SEQUENCE_OFFSET = 16;

  /** Offset of {@code SEGMENT_HEADER.term}: term of its only writer. */
  public static final int SEGMENT_HEADER_TERM_OFFSET = 24;

  /** Offset of {@code SEGMENT_HEADER.config_epoch}: cluster map epoch at open. */
  public static final int SEGMENT_HEADER_CONFIG_EPOCH_OFFSET = 32;

  /** Offset of {@code SEGMENT_HEADER.base_index}: index of the first frame. */
  public static final int SEGMENT_HEADER_BASE_INDEX_OFFSET = 40;

  /** Offset of {@code SEGMENT_HEADER.base_chain}: chain value before the first frame. */
  public static final int SEGMENT_HEADER_BASE_CHAIN_OFFSET = 48;

  /** Offset of {@code SEGMENT_HEADER.sealed_length}: bytes sealed, fixed once. */
  public static final int SEGMENT_HEADER_SEALED_LENGTH_OFFSET = 56;

  /** Offset of {@code SEGMENT_HEADER.valid_length}: bytes adopted, at most sealed_length. */
  public static final int SEGMENT_HEADER_VALID_LENGTH_OFFSET = 60;

  /** Offset of {@code SEGMENT_HEADER.sealed_chain}: chain value at sealed_length. */
  public static final int SEGMENT_HEADER_SEALED_CHAIN_OFFSET = 64;

  /** Offset of {@code SEGMENT_HEADER.write_sequence}: the copy with the larger one is newer. */
  public static final int SEGMENT_HEADER_WRITE_SEQUENCE_OFFSET = 72;

  /** Offset of {@code SEGMENT_HEADER.crc32c}: CRC32C of bytes 0..124. */
  public static final int SEGMENT_HEADER_CRC32C_OFFSET = 124;

  /** Bytes of the record {@code SEGMENT_MARK}. */
  public static final int SEGMENT_MARK_SIZE = 8;

  /** Offset of {@code SEGMENT_MARK.committed_length}: bytes of the segment that hold committed frames. */
  public static final int SEGMENT_MARK_COMMITTED_LENGTH_OFFSET = 0;

  /** Offset of {@code SEGMENT_MARK.check}: crc32c(segment_sequence, committed_length). */
  public static final int SEGMENT_MARK_CHECK_OFFSET = 4;

  /** Bytes of the record {@code FRAME_HEADER}. */
  public static final int FRAME_HEADER_SIZE = 32;

  /** Offset of {@code FRAME_HEADER.length}: payload bytes, more than zero. */
  public static final int FRAME_HEADER_LENGTH_OFFSET = 0;

  /** Offset of {@code FRAME_HEADER.type}: ENTRY 1, NOOP 2. */
  public static final int FRAME_HEADER_TYPE_OFFSET = 4;

  /** Offset of {@code FRAME_HEADER.flags}: zero. */
  public static final int FRAME_HEADER_FLAGS_OFFSET = 5;

  /** Offset of {@code FRAME_HEADER.term16}: low bits of the segment's term. */
  public static final int FRAME_HEADER_TERM16_OFFSET = 6;

  /** Offset of {@code FRAME_HEADER.index}: position in the log, strictly one more than the last. */
  public static final int FRAME_HEADER_INDEX_OFFSET = 8;

  /** Offset of {@code FRAME_HEADER.commit_index}: highest committed index known at append. */
  public static final int FRAME_HEADER_COMMIT_INDEX_OFFSET = 16;

  /** Offset of {@code FRAME_HEADER.entry_term}: term in which the entry was first proposed. */
  public static final int FRAME_HEADER_ENTRY_TERM_OFFSET = 24;

  /** Offset of {@code FRAME_HEADER.header_crc}: crc32c(previous chain, bytes 0..28). */
  public static final int FRAME_HEADER_HEADER_CRC_OFFSET = 28;

  /** Bytes of the record {@code FRAME_TRAILER}. */
  public static final int FRAME_TRAILER_SIZE = 8;

  /** Offset of {@code FRAME_TRAILER.payload_crc}: crc32c(header_crc, padded payload). */
  public static final int FRAME_TRAILER_PAYLOAD_CRC_OFFSET = 0;

  /** Offset of {@code FRAME_TRAILER.chain}: crc32c(header_crc, payload_crc), 0 replaced by 1. */
  public static final int FRAME_TRAILER_CHAIN_OFFSET = 4;

  /** zones of the meta file start on this: a huge page; the superblock fills the first. */
  public static final int POOL_ALIGN = 2097152;

  /** offset of the second copy of the superblock. */
  public static final int SUPERBLOCK_COPY_B = 4096;

  /** Bytes of the record {@code SUPERBLOCK}. */
  public static final int SUPERBLOCK_SIZE = 128;

  /** Offset of {@code SUPERBLOCK.magic}: POOL_MAGIC. */
  public static final int SUPERBLOCK_MAGIC_OFFSET = 0;

  /** Offset of {@code SUPERBLOCK.version}: POOL_VERSION. */
  public static final int SUPERBLOCK_VERSION_OFFSET = 4;

  /** Offset of {@code SUPERBLOCK.layout_hash}: LAYOUT_HASH. */
  public static final int SUPERBLOCK_LAYOUT_HASH_OFFSET = 8;

  /** Offset of {@code SUPERBLOCK.pool_id}: random, drawn when the pool was formatted. */
  public static final int SUPERBLOCK_POOL_ID_OFFSET = 16;

  /** Offset of {@code SUPERBLOCK.epoch}: incarnation of the server, one more at each open, from 1. */
  public static final int SUPERBLOCK_EPOCH_OFFSET = 24;

  /** Offset of {@code SUPERBLOCK.write_sequence}: the copy with the larger one is newer. */
  public static final int SUPERBLOCK_WRITE_SEQUENCE_OFFSET = 32;

  /** Offset of {@code SUPERBLOCK.owner_pid}: process that opened the pool last; for messages only. */
  public static final int SUPERBLOCK_OWNER_PID_OFFSET = 40;

  /** Offset of {@code SUPERBLOCK.page_offset}: offset of the page zone in the meta file. */
  public static final int SUPERBLOCK_PAGE_OFFSET_OFFSET = 48;

  /** Offset of {@code SUPERBLOCK.page_length}: bytes of the page zone. */
  public static final int SUPERBLOCK_PAGE_LENGTH_OFFSET = 56;

  /** Offset of {@code SUPERBLOCK.log_offset}: offset of the log zone in the meta file. */
  public static final int SUPERBLOCK_LOG_OFFSET_OFFSET = 64;

  /** Offset of {@code SUPERBLOCK.log_length}: bytes of the log zone. */
  public static final int SUPERBLOCK_LOG_LENGTH_OFFSET = 72;

  /** Offset of {@code SUPERBLOCK.data_length}: bytes of all arenas; only the last may be short. */
  public static final int SUPERBLOCK_DATA_LENGTH_OFFSET = 80;

  /** Offset of {@code SUPERBLOCK.crc32c}: CRC32C of bytes 0..124. */
  public static final int SUPERBLOCK_CRC32C_OFFSET = 124;

  /** bytes of one page; pages 0 and 1 hold the two copies of the checkpoint. */
  public static final int PAGE_SIZE = 8192;

  /** 'TCKP' in memory order, first word of a checkpoint. */
  public static final int CHECKPOINT_MAGIC = 1347109716;

  /** one tree a shard of the namespace, and one for the server. */
  public static final int STORE_TREES = 257;

  /** upper_length of the last page of a level: it has no upper bound. */
  public static final int PAGE_NO_UPPER = 65535;

  /** Bytes of the record {@code CHECKPOINT}. */
  public static final int CHECKPOINT_SIZE = 1072;

  /** Offset of {@code CHECKPOINT.magic}: CHECKPOINT_MAGIC. */
  public static final int CHECKPOINT_MAGIC_OFFSET = 0;

  /** Offset of {@code CHECKPOINT.trees}: STORE_TREES. */
  public static final int CHECKPOINT_TREES_OFFSET = 4;

  /** Offset of {@code CHECKPOINT.generation}: one more at each checkpoint; the copy with the larger one is newer. */
  public static final int CHECKPOINT_GENERATION_OFFSET = 8;

  /** Offset of {@code CHECKPOINT.index}: last log entry that the trees contain. */
  public static final int CHECKPOINT_INDEX_OFFSET = 16;

  /** Offset of {@code CHECKPOINT.page_count}: pages of the zone. */
  public static final int CHECKPOINT_PAGE_COUNT_OFFSET = 24;

  /** Offset of {@code CHECKPOINT.roots}: page number of each tree's root, 4 bytes each; 0 for an empty tree. */
  public static final int CHECKPOINT_ROOTS_OFFSET = 32;

  /** Offset of {@code CHECKPOINT.crc32c}: CRC32C of bytes 0..1068. */
  public static final int CHECKPOINT_CRC32C_OFFSET = 1068;

  /** Bytes of the record {@code PAGE_HEADER}. */
  public static final int PAGE_HEADER_SIZE = 40;

  /** Offset of {@code PAGE_HEADER.crc32c}: CRC32C of the page from byte 4; right once a checkpoint has the page. */
  public static final int PAGE_HEADER_CRC32C_OFFSET = 0;

  /** Offset of {@code PAGE_HEADER.page_number}: its own. */
  public static final int PAGE_HEADER_PAGE_NUMBER_OFFSET = 4;

  /** Offset of {@code PAGE_HEADER.generation}: checkpoint that has the page first; 0 when free. */
  public static final int PAGE_HEADER_GENERATION_OFFSET = 8;

  /** Offset of {@code PAGE_HEADER.tree}: tree the page belongs to. */
  public static final int PAGE_HEADER_TREE_OFFSET = 16;

  /** Offset of {@code PAGE_HEADER.level}: 0 for a leaf, else levels above the leaves. */
  public static final int PAGE_HEADER_LEVEL_OFFSET = 18;

  /** Offset of {@code PAGE_HEADER.count}: slots, in key order, right behind the header. */
  public static final int PAGE_HEADER_COUNT_OFFSET = 20;

  /** Offset of {@code PAGE_HEADER.heap_start}: offset of the lowest cell; cells fill the page from its end. */
  public static final int PAGE_HEADER_HEAP_START_OFFSET = 22;

  /** Offset of {@code PAGE_HEADER.live}: bytes of cells in use and of the two bounds. */
  public static final int PAGE_HEADER_LIVE_OFFSET = 24;

  /** Offset of {@code PAGE_HEADER.prefix_length}: bytes common to both bounds, left out of every key. */
  public static final int PAGE_HEADER_PREFIX_LENGTH_OFFSET = 26;

  /** Offset of {@code PAGE_HEADER.lower_offset}: where the lower bound of its keys is, inclusive. */
  public static final int PAGE_HEADER_LOWER_OFFSET_OFFSET = 28;

  /** Offset of {@code PAGE_HEADER.lower_length}: bytes of it. */
  public static final int PAGE_HEADER_LOWER_LENGTH_OFFSET = 30;

  /** Offset of {@code PAGE_HEADER.upper_offset}: where the upper bound of its keys is, exclusive. */
  public static final int PAGE_HEADER_UPPER_OFFSET_OFFSET = 32;

  /** Offset of {@code PAGE_HEADER.upper_length}: bytes of it, or PAGE_NO_UPPER. */
  public static final int PAGE_HEADER_UPPER_LENGTH_OFFSET = 34;

  /** Bytes of the record {@code PAGE_SLOT}. */
  public static final int PAGE_SLOT_SIZE = 8;

  /** Offset of {@code PAGE_SLOT.head}: first bytes of the key behind the prefix, as a big-endian number. */
  public static final int PAGE_SLOT_HEAD_OFFSET = 0;

  /** Offset of {@code PAGE_SLOT.offset}: of the cell: value length (2 bytes), key behind the prefix, value. */
  public static final int PAGE_SLOT_OFFSET_OFFSET = 4;

  /** Offset of {@code PAGE_SLOT.key_length}: bytes of the key in the cell. */
  public static final int PAGE_SLOT_KEY_LENGTH_OFFSET = 6;

  /** Hash of all of the above; peers and pools compare it. */
  public static final long LAYOUT_HASH = 0xb7fad1a377719a99L;

  private Layout() {}
}
