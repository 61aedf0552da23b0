package io.takofs.layout;

/** Every memory and wire layout. Generated from native/include/tako/layout.def. */
public final class Layout {
  /** version of the wire protocol; peers must agree exactly. */
  public static final int PROTOCOL_VERSION = 3;
  /** version of the pool format; a newer pool is refused. */
  public static final int POOL_VERSION = 4;
  /** 'TAKO' in memory order, first word of a superblock. */
  public static final int POOL_MAGIC = 1330331988;
  /** 'TLOG' in memory order, first word of a segment header. */
  public static final int SEGMENT_MAGIC = 1196379220;
  /** files that one DeleteFiles names at most. */
  public static final int RPC_DELETES_MAX = 256;
  /** calls outstanding on one connection, and receive credits each way. */
  public static final int RPC_SLOTS = 64;
  /** bytes of one request slot, header included: the longest path and the largest xattr fit. */
  public static final int RPC_REQUEST_SLOT_SIZE = 24576;
  /** bytes of one reply slot, header included. */
  public static final int RPC_REPLY_SLOT_SIZE = 65536;
  /** bytes, of UTF-8, of what a client is called at most. */
  public static final int CLIENT_NAME_MAX = 255;

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
  /** kind of a connection that carries a client's few calls to a server that holds slabs. */
  public static final int CONNECTION_CONTROL = 3;
  /** kind of a connection that carries calls of another server. */
  public static final int CONNECTION_SERVER = 4;
  /** kind of a connection that carries calls to a peer of the catalog. */
  public static final int CONNECTION_CATALOG = 5;
  /** kind of a connection of a leader that only reads and writes the log of a member of its group; client_id is its term, epoch the grant, 0 to read. */
  public static final int CONNECTION_LOG = 6;
  /** as 64 bits, the grant of a connection of kind LOG that only reads the page zone of a member, which no term has. */
  public static final int LOG_SNAPSHOT = -1;
  /** calls outstanding on a connection of kind CONTROL. */
  public static final int CONTROL_SLOTS = 4;
  /** bytes of one request slot and of one reply slot of such a connection. */
  public static final int CONTROL_SLOT_SIZE = 4096;

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
  /** 'TKCP' in memory order, first word from either side. */
  public static final int TCP_MAGIC = 1346587476;
  /** bytes of private data either side may give. */
  public static final int TCP_PRIVATE_DATA_MAX = 56;
  /** bytes that follow a TCP_ANSWER at most. */
  public static final int TCP_ANSWER_MAX = 65536;
  /** kind of hello: make a queue pair. */
  public static final int TCP_CONNECT = 1;
  /** kind of hello: say which transports there are, and close. */
  public static final int TCP_DISCOVER = 2;
  /** status of an answer: the pair stands; private data follows. */
  public static final int TCP_ACCEPTED = 1;
  /** status of an answer: STATUS: reason follows, UTF-8. */
  public static final int TCP_REFUSED = 2;
  /** status of an answer: a TransportOffers message follows. */
  public static final int TCP_OFFERS = 3;

  /** Bytes of the record {@code TCP_HELLO}. */
  public static final int TCP_HELLO_SIZE = 80;
  /** Offset of {@code TCP_HELLO.magic}: TCP_MAGIC. */
  public static final int TCP_HELLO_MAGIC_OFFSET = 0;
  /** Offset of {@code TCP_HELLO.protocol_version}: PROTOCOL_VERSION of the sender. */
  public static final int TCP_HELLO_PROTOCOL_VERSION_OFFSET = 4;
  /** Offset of {@code TCP_HELLO.kind}: TCP_CONNECT or TCP_DISCOVER. */
  public static final int TCP_HELLO_KIND_OFFSET = 8;
  /** Offset of {@code TCP_HELLO.max_sends}: operations the sender has outstanding at most. */
  public static final int TCP_HELLO_MAX_SENDS_OFFSET = 12;
  /** Offset of {@code TCP_HELLO.length}: bytes of private data that count. */
  public static final int TCP_HELLO_LENGTH_OFFSET = 16;
  /** Offset of {@code TCP_HELLO.private_data}: private data, padded with zeros. */
  public static final int TCP_HELLO_PRIVATE_DATA_OFFSET = 24;

  /** Bytes of the record {@code TCP_ANSWER}. */
  public static final int TCP_ANSWER_SIZE = 24;
  /** Offset of {@code TCP_ANSWER.magic}: TCP_MAGIC. */
  public static final int TCP_ANSWER_MAGIC_OFFSET = 0;
  /** Offset of {@code TCP_ANSWER.protocol_version}: PROTOCOL_VERSION of the sender. */
  public static final int TCP_ANSWER_PROTOCOL_VERSION_OFFSET = 4;
  /** Offset of {@code TCP_ANSWER.status}: TCP_ACCEPTED, TCP_REFUSED or TCP_OFFERS. */
  public static final int TCP_ANSWER_STATUS_OFFSET = 8;
  /** Offset of {@code TCP_ANSWER.max_sends}: operations the sender has outstanding at most. */
  public static final int TCP_ANSWER_MAX_SENDS_OFFSET = 12;
  /** Offset of {@code TCP_ANSWER.length}: bytes that follow. */
  public static final int TCP_ANSWER_LENGTH_OFFSET = 16;
  /** opcode: `length` bytes follow for rkey, address. */
  public static final int TCP_WRITE = 1;
  /** opcode: as WRITE, then consume a receive. */
  public static final int TCP_WRITE_WITH_IMMEDIATE = 2;
  /** opcode: answer with `length` bytes of rkey, address. */
  public static final int TCP_READ = 3;
  /** opcode: operand1 expected, operand2 desired. */
  public static final int TCP_COMPARE_AND_SWAP = 4;
  /** opcode: operand1 addend. */
  public static final int TCP_FETCH_AND_ADD = 5;
  /** opcode: requests up to number `address` are done. */
  public static final int TCP_ACKNOWLEDGE = 6;
  /** opcode: request `address` is done; `length` bytes follow. */
  public static final int TCP_READ_RESULT = 7;
  /** opcode: request `address` is done; operand1 is the old value. */
  public static final int TCP_ATOMIC_RESULT = 8;
  /** opcode: request `address` failed for the reason in `immediate`; the last frame. */
  public static final int TCP_REFUSE = 9;
  /** opcode: answer with ACKNOWLEDGE. */
  public static final int TCP_PING = 10;
  /** reason: unknown rkey, outside the region, or not allowed. */
  public static final int TCP_REFUSE_ACCESS = 1;
  /** reason: no receive was posted in time. */
  public static final int TCP_REFUSE_NO_RECEIVE = 2;

  /** Bytes of the record {@code TCP_FRAME}. */
  public static final int TCP_FRAME_SIZE = 40;
  /** Offset of {@code TCP_FRAME.opcode}: TCP_WRITE .. TCP_PING. */
  public static final int TCP_FRAME_OPCODE_OFFSET = 0;
  /** Offset of {@code TCP_FRAME.acknowledge}: 1: the sender waits for an acknowledgement, else 0. */
  public static final int TCP_FRAME_ACKNOWLEDGE_OFFSET = 1;
  /** Offset of {@code TCP_FRAME.padding}: zero, and checked to be. */
  public static final int TCP_FRAME_PADDING_OFFSET = 2;
  /** Offset of {@code TCP_FRAME.length}: bytes written, read or following. */
  public static final int TCP_FRAME_LENGTH_OFFSET = 4;
  /** Offset of {@code TCP_FRAME.rkey}: key of the remote region. */
  public static final int TCP_FRAME_RKEY_OFFSET = 8;
  /** Offset of {@code TCP_FRAME.immediate}: of WRITE_WITH_IMMEDIATE; reason of REFUSE. */
  public static final int TCP_FRAME_IMMEDIATE_OFFSET = 12;
  /** Offset of {@code TCP_FRAME.address}: remote address, or number of the request answered. */
  public static final int TCP_FRAME_ADDRESS_OFFSET = 16;
  /** Offset of {@code TCP_FRAME.operand1}: of atomic operations. */
  public static final int TCP_FRAME_OPERAND1_OFFSET = 24;
  /** Offset of {@code TCP_FRAME.operand2}: of COMPARE_AND_SWAP. */
  public static final int TCP_FRAME_OPERAND2_OFFSET = 32;
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
  /** bytes of one slab: a range of an arena, aligned to its size, that is lent to a log group. */
  public static final int SLAB_SIZE = 16777216;
  /** 'TSLB' in memory order, first word of a slab record. */
  public static final int SLAB_MAGIC = 1112298324;
  /** offset of the second copy of a slab record in its slot. */
  public static final int SLAB_COPY_B = 64;
  /** offset in the slot of its fences: of each unit the highest grant that is refused, 8 bytes each. */
  public static final int SLAB_FENCES = 128;
  /** bytes of one slot: two copies of the record, the fences, zeros. */
  public static final int SLAB_SLOT_SIZE = 2304;

  /** Bytes of the record {@code SLAB_RECORD}. */
  public static final int SLAB_RECORD_SIZE = 64;
  /** Offset of {@code SLAB_RECORD.magic}: SLAB_MAGIC. */
  public static final int SLAB_RECORD_MAGIC_OFFSET = 0;
  /** Offset of {@code SLAB_RECORD.state}: FREE 0, LEASED 1, RETURNED 2: lent again once nobody can write it. */
  public static final int SLAB_RECORD_STATE_OFFSET = 4;
  /** Offset of {@code SLAB_RECORD.lease}: number of the last lease of it, never used again in this pool; 0 before the first. */
  public static final int SLAB_RECORD_LEASE_OFFSET = 8;
  /** Offset of {@code SLAB_RECORD.group}: that it is or was lent to. */
  public static final int SLAB_RECORD_GROUP_OFFSET = 16;
  /** Offset of {@code SLAB_RECORD.term}: of the leader that leased it. */
  public static final int SLAB_RECORD_TERM_OFFSET = 24;
  /** Offset of {@code SLAB_RECORD.request}: of that leader, by which it was leased. */
  public static final int SLAB_RECORD_REQUEST_OFFSET = 32;
  /** Offset of {@code SLAB_RECORD.write_sequence}: the copy with the larger one is newer. */
  public static final int SLAB_RECORD_WRITE_SEQUENCE_OFFSET = 40;
  /** Offset of {@code SLAB_RECORD.crc32c}: CRC32C of bytes 0..60. */
  public static final int SLAB_RECORD_CRC32C_OFFSET = 60;
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
  /** Offset of {@code SEGMENT_HEADER.state}: FREE 0, OPEN 1, SEALED 2, FLUSHED 3, GRANTED 4. */
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
  /** Offset of {@code SEGMENT_HEADER.grant}: under which the leader got it from this replica; 0 in a log of one member. */
  public static final int SEGMENT_HEADER_GRANT_OFFSET = 80;
  /** Offset of {@code SEGMENT_HEADER.crc32c}: CRC32C of bytes 0..124. */
  public static final int SEGMENT_HEADER_CRC32C_OFFSET = 124;
  /** 'PROM' in memory order, first word of a promise. */
  public static final int PROMISE_MAGIC = 1297044048;
  /** offset of the promise in the first two slots. */
  public static final int PROMISE_OFFSET = 512;

  /** Bytes of the record {@code PROMISE}. */
  public static final int PROMISE_SIZE = 128;
  /** Offset of {@code PROMISE.magic}: PROMISE_MAGIC. */
  public static final int PROMISE_MAGIC_OFFSET = 0;
  /** Offset of {@code PROMISE.log_id}: log that it is about. */
  public static final int PROMISE_LOG_ID_OFFSET = 4;
  /** Offset of {@code PROMISE.term}: no leader of an earlier term is let in. */
  public static final int PROMISE_TERM_OFFSET = 8;
  /** Offset of {@code PROMISE.candidate}: server that leads in this term if any does. */
  public static final int PROMISE_CANDIDATE_OFFSET = 16;
  /** Offset of {@code PROMISE.accepted_term}: of the leader whose log this member has adopted. */
  public static final int PROMISE_ACCEPTED_TERM_OFFSET = 24;
  /** Offset of {@code PROMISE.config_epoch}: highest epoch of a configuration that was acted on here. */
  public static final int PROMISE_CONFIG_EPOCH_OFFSET = 32;
  /** Offset of {@code PROMISE.grant}: number of the last grant, never used again. */
  public static final int PROMISE_GRANT_OFFSET = 40;
  /** Offset of {@code PROMISE.adopted_grant}: under which the newest segments of the log were written. */
  public static final int PROMISE_ADOPTED_GRANT_OFFSET = 48;
  /** Offset of {@code PROMISE.adopted_sequence}: of the first segment of that grant. */
  public static final int PROMISE_ADOPTED_SEQUENCE_OFFSET = 56;
  /** Offset of {@code PROMISE.write_sequence}: the copy with the larger one is newer. */
  public static final int PROMISE_WRITE_SEQUENCE_OFFSET = 64;
  /** Offset of {@code PROMISE.oldest_sequence}: segments before this one are no part of the log. */
  public static final int PROMISE_OLDEST_SEQUENCE_OFFSET = 72;
  /** Offset of {@code PROMISE.committed}: entries up to here are committed, though the log may end before. */
  public static final int PROMISE_COMMITTED_OFFSET = 80;
  /** Offset of {@code PROMISE.counted}: the leader of accepted_term counted entries up to here as written here. */
  public static final int PROMISE_COUNTED_OFFSET = 88;
  /** Offset of {@code PROMISE.crc32c}: CRC32C of bytes 0..124. */
  public static final int PROMISE_CRC32C_OFFSET = 124;

  /** Bytes of the record {@code HEARTBEAT}. */
  public static final int HEARTBEAT_SIZE = 64;
  /** Offset of {@code HEARTBEAT.term}: low bits of the leader's term. */
  public static final int HEARTBEAT_TERM_OFFSET = 0;
  /** Offset of {@code HEARTBEAT.counter}: one more in each heartbeat of a grant. */
  public static final int HEARTBEAT_COUNTER_OFFSET = 4;
  /** Offset of {@code HEARTBEAT.commit_index}: highest index that the leader knows to be committed. */
  public static final int HEARTBEAT_COMMIT_INDEX_OFFSET = 8;
  /** Offset of {@code HEARTBEAT.counted_index}: the leader counts frames up to this index as written here. */
  public static final int HEARTBEAT_COUNTED_INDEX_OFFSET = 16;
  /** Offset of {@code HEARTBEAT.crc32c}: CRC32C of bytes 0..24. */
  public static final int HEARTBEAT_CRC32C_OFFSET = 24;

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
  /** Offset of {@code FRAME_HEADER.entry_term}: low bits of the term in which the entry was first proposed; the rest is the segment's. */
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
  /** Offset of {@code SUPERBLOCK.slab_offset}: offset of the slab zone in the meta file. */
  public static final int SUPERBLOCK_SLAB_OFFSET_OFFSET = 88;
  /** Offset of {@code SUPERBLOCK.slab_length}: bytes of the slab zone. */
  public static final int SUPERBLOCK_SLAB_LENGTH_OFFSET = 96;
  /** Offset of {@code SUPERBLOCK.cluster_id}: cluster that the server belongs to; 0 before it joined one. */
  public static final int SUPERBLOCK_CLUSTER_ID_OFFSET = 104;
  /** Offset of {@code SUPERBLOCK.server_id}: its number there; 0 before it joined. */
  public static final int SUPERBLOCK_SERVER_ID_OFFSET = 112;
  /** Offset of {@code SUPERBLOCK.crc32c}: CRC32C of bytes 0..124. */
  public static final int SUPERBLOCK_CRC32C_OFFSET = 124;
  /** bytes of one page; pages 0 and 1 hold the two copies of the checkpoint. */
  public static final int PAGE_SIZE = 8192;
  /** 'TCKP' in memory order, first word of a checkpoint. */
  public static final int CHECKPOINT_MAGIC = 1347109716;
  /** 'TINC' in memory order, first word instead of it while the checkpoint of another member is taken over: there is none yet. */
  public static final int CHECKPOINT_INCOMPLETE_MAGIC = 1129204052;
  /** one tree a shard of the namespace, one for the group, and one for what is derived from them. */
  public static final int STORE_TREES = 258;
  /** upper_length of the last page of a level: it has no upper bound. */
  public static final int PAGE_NO_UPPER = 65535;

  /** Bytes of the record {@code CHECKPOINT}. */
  public static final int CHECKPOINT_SIZE = 1072;
  /** Offset of {@code CHECKPOINT.magic}: CHECKPOINT_MAGIC or CHECKPOINT_INCOMPLETE_MAGIC. */
  public static final int CHECKPOINT_MAGIC_OFFSET = 0;
  /** Offset of {@code CHECKPOINT.trees}: STORE_TREES. */
  public static final int CHECKPOINT_TREES_OFFSET = 4;
  /** Offset of {@code CHECKPOINT.generation}: one more at each checkpoint; the copy with the larger one is newer. */
  public static final int CHECKPOINT_GENERATION_OFFSET = 8;
  /** Offset of {@code CHECKPOINT.index}: last log entry that the trees contain. */
  public static final int CHECKPOINT_INDEX_OFFSET = 16;
  /** Offset of {@code CHECKPOINT.page_count}: pages of the zone, the same at all members of a group; a zone that has more does not use them. */
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
  /** Offset of {@code PAGE_HEADER.count}: slots, in key order, right after the header. */
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
  /** Offset of {@code PAGE_SLOT.head}: first bytes of the key after the prefix, as a big-endian number. */
  public static final int PAGE_SLOT_HEAD_OFFSET = 0;
  /** Offset of {@code PAGE_SLOT.offset}: of the cell: value length (2 bytes), key after the prefix, value. */
  public static final int PAGE_SLOT_OFFSET_OFFSET = 4;
  /** Offset of {@code PAGE_SLOT.key_length}: bytes of the key in the cell. */
  public static final int PAGE_SLOT_KEY_LENGTH_OFFSET = 6;
  /** pieces of one operation at most. */
  public static final int PIECES_MAX = 16;
  /** flag of an operation: report success too. */
  public static final int SIGNALED = 1;

  /** Bytes of the record {@code WORK}. */
  public static final int WORK_SIZE = 48;
  /** Offset of {@code WORK.id}: the caller's work request id. */
  public static final int WORK_ID_OFFSET = 0;
  /** Offset of {@code WORK.remote_address}: where in the peer's memory; for BIND_WINDOW where the window begins. */
  public static final int WORK_REMOTE_ADDRESS_OFFSET = 8;
  /** Offset of {@code WORK.operand}: expected value or addend; for BIND_WINDOW the ibv_mw. */
  public static final int WORK_OPERAND_OFFSET = 16;
  /** Offset of {@code WORK.desired}: value to store when the expected one was found; for BIND_WINDOW the ibv_mr that it lies in. */
  public static final int WORK_DESIRED_OFFSET = 24;
  /** Offset of {@code WORK.rkey}: of the peer's region; of the window, once it is bound, or to invalidate. */
  public static final int WORK_RKEY_OFFSET = 32;
  /** Offset of {@code WORK.immediate}: for WRITE_WITH_IMMEDIATE; for BIND_WINDOW ibv_access_flags. */
  public static final int WORK_IMMEDIATE_OFFSET = 36;
  /** Offset of {@code WORK.opcode}: ordinal of Opcode. */
  public static final int WORK_OPCODE_OFFSET = 40;
  /** Offset of {@code WORK.flags}: SIGNALED or 0. */
  public static final int WORK_FLAGS_OFFSET = 41;
  /** Offset of {@code WORK.pieces}: piece records that follow. */
  public static final int WORK_PIECES_OFFSET = 42;
  /** Offset of {@code WORK.status}: ordinal of CompletionStatus: SUCCESS, or why the operation must not be tried. */
  public static final int WORK_STATUS_OFFSET = 43;
  /** Offset of {@code WORK.length}: bytes of all pieces together; for BIND_WINDOW those of the window. */
  public static final int WORK_LENGTH_OFFSET = 44;

  /** Bytes of the record {@code PIECE}. */
  public static final int PIECE_SIZE = 16;
  /** Offset of {@code PIECE.address}: local memory. */
  public static final int PIECE_ADDRESS_OFFSET = 0;
  /** Offset of {@code PIECE.length}: bytes. */
  public static final int PIECE_LENGTH_OFFSET = 8;
  /** Offset of {@code PIECE.lkey}: of its region. */
  public static final int PIECE_LKEY_OFFSET = 12;
  /** first word of a message on the control socket. */
  public static final int SHM_MAGIC = 1296585547;
  /** bytes of private data of a connection request or answer. */
  public static final int SHM_PRIVATE_DATA_MAX = 56;
  /** regions of a protection domain at most; the low 13 bits of an rkey are the index. */
  public static final int SHM_EXPORTS = 8192;
  /** queue pairs of one completion queue at most. */
  public static final int SHM_QUEUE_PAIRS = 4096;
  /** sends or receives of one queue pair at most. */
  public static final int SHM_QUEUE_DEPTH_MAX = 65536;

  /** Bytes of the record {@code SHM_EXPORT}. */
  public static final int SHM_EXPORT_SIZE = 32;
  /** Offset of {@code SHM_EXPORT.rkey}: key of the region; 0 while the entry is free. */
  public static final int SHM_EXPORT_RKEY_OFFSET = 0;
  /** Offset of {@code SHM_EXPORT.access}: READ 1, READ_WRITE 2, ATOMIC 3. */
  public static final int SHM_EXPORT_ACCESS_OFFSET = 4;
  /** Offset of {@code SHM_EXPORT.address}: of the first byte, as peers name it. */
  public static final int SHM_EXPORT_ADDRESS_OFFSET = 8;
  /** Offset of {@code SHM_EXPORT.length}: bytes. */
  public static final int SHM_EXPORT_LENGTH_OFFSET = 16;
  /** Offset of {@code SHM_EXPORT.file_offset}: where the region begins in the file named after the rkey. */
  public static final int SHM_EXPORT_FILE_OFFSET_OFFSET = 24;

  /** Bytes of the record {@code SHM_INBOX}. */
  public static final int SHM_INBOX_SIZE = 128;
  /** Offset of {@code SHM_INBOX.posted}: receives posted since the connection was made: the sender's credits. */
  public static final int SHM_INBOX_POSTED_OFFSET = 0;
  /** Offset of {@code SHM_INBOX.revoked}: 1: the owner has ended the pair, and no send that the peer completes from now on succeeds; a line of its own, because the peer loads it with each post. */
  public static final int SHM_INBOX_REVOKED_OFFSET = 64;

  /** Bytes of the record {@code SHM_RECEIVE}. */
  public static final int SHM_RECEIVE_SIZE = 16;
  /** Offset of {@code SHM_RECEIVE.sequence}: index of the receive plus one, written last. */
  public static final int SHM_RECEIVE_SEQUENCE_OFFSET = 0;
  /** Offset of {@code SHM_RECEIVE.immediate}: the sender's 32 bits. */
  public static final int SHM_RECEIVE_IMMEDIATE_OFFSET = 4;
  /** Offset of {@code SHM_RECEIVE.byte_count}: bytes the sender wrote. */
  public static final int SHM_RECEIVE_BYTE_COUNT_OFFSET = 8;

  /** Bytes of the record {@code SHM_DOORBELL}. */
  public static final int SHM_DOORBELL_SIZE = 4096;
  /** Offset of {@code SHM_DOORBELL.sleeping}: futex: 1 while the owner of the completion queue sleeps. */
  public static final int SHM_DOORBELL_SLEEPING_OFFSET = 0;
  /** Offset of {@code SHM_DOORBELL.summary}: bit w: word w of ready may be non-zero. */
  public static final int SHM_DOORBELL_SUMMARY_OFFSET = 8;
  /** Offset of {@code SHM_DOORBELL.ready}: bit s: the inbox of queue pair s may have news. */
  public static final int SHM_DOORBELL_READY_OFFSET = 16;

  /** Bytes of the record {@code SHM_IMPORT}. */
  public static final int SHM_IMPORT_SIZE = 32;
  /** Offset of {@code SHM_IMPORT.rkey}: key of a peer's region that is mapped; 0 if none. */
  public static final int SHM_IMPORT_RKEY_OFFSET = 0;
  /** Offset of {@code SHM_IMPORT.access}: as in shm_export, when it was mapped. */
  public static final int SHM_IMPORT_ACCESS_OFFSET = 4;
  /** Offset of {@code SHM_IMPORT.address}: the peer's name of the first byte. */
  public static final int SHM_IMPORT_ADDRESS_OFFSET = 8;
  /** Offset of {@code SHM_IMPORT.length}: bytes. */
  public static final int SHM_IMPORT_LENGTH_OFFSET = 16;
  /** Offset of {@code SHM_IMPORT.local}: where it is mapped in this process. */
  public static final int SHM_IMPORT_LOCAL_OFFSET = 24;
  /** opcode: ordinal of Opcode.WRITE. */
  public static final int SHM_OP_WRITE = 0;
  /** opcode. */
  public static final int SHM_OP_WRITE_WITH_IMMEDIATE = 1;
  /** opcode. */
  public static final int SHM_OP_READ = 2;
  /** opcode. */
  public static final int SHM_OP_COMPARE_AND_SWAP = 3;
  /** opcode. */
  public static final int SHM_OP_FETCH_AND_ADD = 4;
  /** opcode. */
  public static final int SHM_OP_RECEIVE_IMMEDIATE = 5;
  /** not a completion: the queue pair in this slot just went into error. */
  public static final int SHM_EVENT_FAILED = 16;
  /** not a completion: the closed queue pair in this slot is drained. */
  public static final int SHM_EVENT_DETACHED = 17;
  /** status: ordinal of CompletionStatus.SUCCESS. */
  public static final int SHM_SUCCESS = 0;
  /** status. */
  public static final int SHM_FLUSHED = 1;
  /** status. */
  public static final int SHM_LOCAL_ACCESS_ERROR = 2;
  /** status. */
  public static final int SHM_REMOTE_ACCESS_ERROR = 3;
  /** status. */
  public static final int SHM_RECEIVER_NOT_READY = 4;

  /** Bytes of the record {@code SHM_SENT}. */
  public static final int SHM_SENT_SIZE = 16;
  /** Offset of {@code SHM_SENT.id}: work request id. */
  public static final int SHM_SENT_ID_OFFSET = 0;
  /** Offset of {@code SHM_SENT.byte_count}: bytes read, for READ. */
  public static final int SHM_SENT_BYTE_COUNT_OFFSET = 8;
  /** Offset of {@code SHM_SENT.opcode}: SHM_OP_*. */
  public static final int SHM_SENT_OPCODE_OFFSET = 12;
  /** Offset of {@code SHM_SENT.status}: how it ended. */
  public static final int SHM_SENT_STATUS_OFFSET = 13;

  /** Bytes of the record {@code SHM_COMPLETION}. */
  public static final int SHM_COMPLETION_SIZE = 32;
  /** Offset of {@code SHM_COMPLETION.id}: work request id. */
  public static final int SHM_COMPLETION_ID_OFFSET = 0;
  /** Offset of {@code SHM_COMPLETION.slot}: of the queue pair in the completion queue. */
  public static final int SHM_COMPLETION_SLOT_OFFSET = 8;
  /** Offset of {@code SHM_COMPLETION.byte_count}: bytes. */
  public static final int SHM_COMPLETION_BYTE_COUNT_OFFSET = 12;
  /** Offset of {@code SHM_COMPLETION.immediate}: for RECEIVE_IMMEDIATE. */
  public static final int SHM_COMPLETION_IMMEDIATE_OFFSET = 16;
  /** Offset of {@code SHM_COMPLETION.opcode}: SHM_OP_* or SHM_EVENT_*. */
  public static final int SHM_COMPLETION_OPCODE_OFFSET = 20;
  /** Offset of {@code SHM_COMPLETION.status}: how it ended. */
  public static final int SHM_COMPLETION_STATUS_OFFSET = 21;
  /** state of a queue pair; it only grows: ordinal of QueuePair.State. */
  public static final int SHM_CONNECTED = 0;
  /** state. */
  public static final int SHM_ERROR = 1;
  /** state. */
  public static final int SHM_CLOSED = 2;

  /** Bytes of the record {@code SHM_QUEUE_PAIR}. */
  public static final int SHM_QUEUE_PAIR_SIZE = 320;
  /** Offset of {@code SHM_QUEUE_PAIR.state}: SHM_CONNECTED, SHM_ERROR or SHM_CLOSED. */
  public static final int SHM_QUEUE_PAIR_STATE_OFFSET = 0;
  /** Offset of {@code SHM_QUEUE_PAIR.peer_slot}: this pair's bit in the peer's doorbell. */
  public static final int SHM_QUEUE_PAIR_PEER_SLOT_OFFSET = 4;
  /** Offset of {@code SHM_QUEUE_PAIR.peer_inbox}: address of the peer's shm_inbox. */
  public static final int SHM_QUEUE_PAIR_PEER_INBOX_OFFSET = 8;
  /** Offset of {@code SHM_QUEUE_PAIR.peer_doorbell}: address of the peer's shm_doorbell. */
  public static final int SHM_QUEUE_PAIR_PEER_DOORBELL_OFFSET = 16;
  /** Offset of {@code SHM_QUEUE_PAIR.peer_exports}: address of the peer's shm_export table, read only. */
  public static final int SHM_QUEUE_PAIR_PEER_EXPORTS_OFFSET = 24;
  /** Offset of {@code SHM_QUEUE_PAIR.imports}: address of SHM_EXPORTS shm_import records. */
  public static final int SHM_QUEUE_PAIR_IMPORTS_OFFSET = 32;
  /** Offset of {@code SHM_QUEUE_PAIR.inbox}: address of the own shm_inbox. */
  public static final int SHM_QUEUE_PAIR_INBOX_OFFSET = 40;
  /** Offset of {@code SHM_QUEUE_PAIR.receive_ids}: address of the ids of posted receives. */
  public static final int SHM_QUEUE_PAIR_RECEIVE_IDS_OFFSET = 48;
  /** Offset of {@code SHM_QUEUE_PAIR.sent_ring}: address of the shm_sent ring. */
  public static final int SHM_QUEUE_PAIR_SENT_RING_OFFSET = 56;
  /** Offset of {@code SHM_QUEUE_PAIR.send_queue}: address of the shm_completion_queue of sends. */
  public static final int SHM_QUEUE_PAIR_SEND_QUEUE_OFFSET = 64;
  /** Offset of {@code SHM_QUEUE_PAIR.receive_queue}: address of the shm_completion_queue of receives. */
  public static final int SHM_QUEUE_PAIR_RECEIVE_QUEUE_OFFSET = 72;
  /** Offset of {@code SHM_QUEUE_PAIR.peer_mask}: entries of the peer's inbox minus one. */
  public static final int SHM_QUEUE_PAIR_PEER_MASK_OFFSET = 80;
  /** Offset of {@code SHM_QUEUE_PAIR.receive_mask}: entries of the own inbox minus one. */
  public static final int SHM_QUEUE_PAIR_RECEIVE_MASK_OFFSET = 84;
  /** Offset of {@code SHM_QUEUE_PAIR.sent_mask}: entries of the shm_sent ring minus one. */
  public static final int SHM_QUEUE_PAIR_SENT_MASK_OFFSET = 88;
  /** Offset of {@code SHM_QUEUE_PAIR.send_slot}: in the completion queue of sends. */
  public static final int SHM_QUEUE_PAIR_SEND_SLOT_OFFSET = 92;
  /** Offset of {@code SHM_QUEUE_PAIR.receive_slot}: in the completion queue of receives. */
  public static final int SHM_QUEUE_PAIR_RECEIVE_SLOT_OFFSET = 96;
  /** Offset of {@code SHM_QUEUE_PAIR.credits_used}: immediates sent; the posting thread's. */
  public static final int SHM_QUEUE_PAIR_CREDITS_USED_OFFSET = 128;
  /** Offset of {@code SHM_QUEUE_PAIR.sent_tail}: send completions ever added; the posting thread's. */
  public static final int SHM_QUEUE_PAIR_SENT_TAIL_OFFSET = 136;
  /** Offset of {@code SHM_QUEUE_PAIR.resume_offset}: where a post that wanted a mapping goes on. */
  public static final int SHM_QUEUE_PAIR_RESUME_OFFSET_OFFSET = 144;
  /** Offset of {@code SHM_QUEUE_PAIR.wanted_rkey}: the key it wants mapped. */
  public static final int SHM_QUEUE_PAIR_WANTED_RKEY_OFFSET = 148;
  /** Offset of {@code SHM_QUEUE_PAIR.receives_posted}: receives ever posted; the posting thread's. */
  public static final int SHM_QUEUE_PAIR_RECEIVES_POSTED_OFFSET = 152;
  /** Offset of {@code SHM_QUEUE_PAIR.credits_seen}: receives the peer had posted when last looked at; the posting thread's. */
  public static final int SHM_QUEUE_PAIR_CREDITS_SEEN_OFFSET = 160;
  /** Offset of {@code SHM_QUEUE_PAIR.sent_head}: send completions ever polled; the polling thread's. */
  public static final int SHM_QUEUE_PAIR_SENT_HEAD_OFFSET = 192;
  /** Offset of {@code SHM_QUEUE_PAIR.receives_done}: receives ever completed; the polling thread's. */
  public static final int SHM_QUEUE_PAIR_RECEIVES_DONE_OFFSET = 200;

  /** Bytes of the record {@code SHM_COMPLETION_QUEUE}. */
  public static final int SHM_COMPLETION_QUEUE_SIZE = 33408;
  /** Offset of {@code SHM_COMPLETION_QUEUE.doorbell}: address of the own shm_doorbell. */
  public static final int SHM_COMPLETION_QUEUE_DOORBELL_OFFSET = 0;
  /** Offset of {@code SHM_COMPLETION_QUEUE.wakeup}: 1: the next await returns at once. */
  public static final int SHM_COMPLETION_QUEUE_WAKEUP_OFFSET = 8;
  /** Offset of {@code SHM_COMPLETION_QUEUE.polls_to_sweep}: polls until all queue pairs are looked at; the polling thread's. */
  public static final int SHM_COMPLETION_QUEUE_POLLS_TO_SWEEP_OFFSET = 12;
  /** Offset of {@code SHM_COMPLETION_QUEUE.next_word}: word of ready that the next poll begins with; the polling thread's. */
  public static final int SHM_COMPLETION_QUEUE_NEXT_WORD_OFFSET = 16;
  /** Offset of {@code SHM_COMPLETION_QUEUE.spin_ns}: await spins this long at most before it sleeps. */
  public static final int SHM_COMPLETION_QUEUE_SPIN_NS_OFFSET = 20;
  /** Offset of {@code SHM_COMPLETION_QUEUE.spin_budget_ns}: what spinning has been worth lately; the polling thread's. */
  public static final int SHM_COMPLETION_QUEUE_SPIN_BUDGET_NS_OFFSET = 24;
  /** Offset of {@code SHM_COMPLETION_QUEUE.spin_misses}: spins in vain; the polling thread's. */
  public static final int SHM_COMPLETION_QUEUE_SPIN_MISSES_OFFSET = 28;
  /** Offset of {@code SHM_COMPLETION_QUEUE.summary}: as in shm_doorbell, set by this process only. */
  public static final int SHM_COMPLETION_QUEUE_SUMMARY_OFFSET = 64;
  /** Offset of {@code SHM_COMPLETION_QUEUE.ready}: as in shm_doorbell, set by this process only. */
  public static final int SHM_COMPLETION_QUEUE_READY_OFFSET = 72;
  /** Offset of {@code SHM_COMPLETION_QUEUE.queue_pairs}: addresses of shm_queue_pair records by slot; 0 where none. */
  public static final int SHM_COMPLETION_QUEUE_QUEUE_PAIRS_OFFSET = 640;
  /** queue pairs of one completion queue at most. */
  public static final int VERBS_QUEUE_PAIRS = 16384;
  /** sends or receives of one queue pair at most. */
  public static final int VERBS_QUEUE_DEPTH_MAX = 65536;
  /** sends of a batch from one that the device reports to the next. */
  public static final int VERBS_SIGNAL_EVERY = 16;
  /** opcode: ordinal of Opcode.WRITE. */
  public static final int VERBS_OP_WRITE = 0;
  /** opcode. */
  public static final int VERBS_OP_WRITE_WITH_IMMEDIATE = 1;
  /** opcode. */
  public static final int VERBS_OP_READ = 2;
  /** opcode. */
  public static final int VERBS_OP_COMPARE_AND_SWAP = 3;
  /** opcode. */
  public static final int VERBS_OP_FETCH_AND_ADD = 4;
  /** opcode. */
  public static final int VERBS_OP_RECEIVE_IMMEDIATE = 5;
  /** opcode. */
  public static final int VERBS_OP_BIND_WINDOW = 6;
  /** opcode. */
  public static final int VERBS_OP_INVALIDATE_WINDOW = 7;
  /** not a completion: the closed queue pair in this slot is drained. */
  public static final int VERBS_EVENT_DETACHED = 16;
  /** status: ordinal of CompletionStatus.SUCCESS. */
  public static final int VERBS_SUCCESS = 0;
  /** status. */
  public static final int VERBS_FLUSHED = 1;
  /** status. */
  public static final int VERBS_LOCAL_ACCESS_ERROR = 2;
  /** status. */
  public static final int VERBS_REMOTE_ACCESS_ERROR = 3;
  /** status. */
  public static final int VERBS_RECEIVER_NOT_READY = 4;
  /** status. */
  public static final int VERBS_RETRY_EXCEEDED = 5;

  /** Bytes of the record {@code VERBS_COMPLETION}. */
  public static final int VERBS_COMPLETION_SIZE = 32;
  /** Offset of {@code VERBS_COMPLETION.id}: work request id. */
  public static final int VERBS_COMPLETION_ID_OFFSET = 0;
  /** Offset of {@code VERBS_COMPLETION.slot}: of the queue pair in the completion queue. */
  public static final int VERBS_COMPLETION_SLOT_OFFSET = 8;
  /** Offset of {@code VERBS_COMPLETION.byte_count}: bytes. */
  public static final int VERBS_COMPLETION_BYTE_COUNT_OFFSET = 12;
  /** Offset of {@code VERBS_COMPLETION.immediate}: for RECEIVE_IMMEDIATE. */
  public static final int VERBS_COMPLETION_IMMEDIATE_OFFSET = 16;
  /** Offset of {@code VERBS_COMPLETION.opcode}: VERBS_OP_* or VERBS_EVENT_*. */
  public static final int VERBS_COMPLETION_OPCODE_OFFSET = 20;
  /** Offset of {@code VERBS_COMPLETION.status}: how it ended. */
  public static final int VERBS_COMPLETION_STATUS_OFFSET = 21;
  /** Offset of {@code VERBS_COMPLETION.device_status}: ibv_wc_status, for messages. */
  public static final int VERBS_COMPLETION_DEVICE_STATUS_OFFSET = 22;
  /** Offset of {@code VERBS_COMPLETION.vendor_error}: what the device adds to it, for messages. */
  public static final int VERBS_COMPLETION_VENDOR_ERROR_OFFSET = 24;
  /** state of a queue pair; it only grows: ordinal of QueuePair.State. */
  public static final int VERBS_CONNECTED = 0;
  /** state. */
  public static final int VERBS_ERROR = 1;
  /** state. */
  public static final int VERBS_CLOSED = 2;

  /** Bytes of the record {@code VERBS_QUEUE_PAIR}. */
  public static final int VERBS_QUEUE_PAIR_SIZE = 128;
  /** Offset of {@code VERBS_QUEUE_PAIR.state}: VERBS_CONNECTED, VERBS_ERROR or VERBS_CLOSED. */
  public static final int VERBS_QUEUE_PAIR_STATE_OFFSET = 0;
  /** Offset of {@code VERBS_QUEUE_PAIR.ended}: 1: the device touches nothing for it any more. */
  public static final int VERBS_QUEUE_PAIR_ENDED_OFFSET = 4;
  /** Offset of {@code VERBS_QUEUE_PAIR.sent_tail}: sends ever posted; the posting thread's. */
  public static final int VERBS_QUEUE_PAIR_SENT_TAIL_OFFSET = 8;
  /** Offset of {@code VERBS_QUEUE_PAIR.received_tail}: receives ever posted; the posting thread's. */
  public static final int VERBS_QUEUE_PAIR_RECEIVED_TAIL_OFFSET = 16;
  /** Offset of {@code VERBS_QUEUE_PAIR.doorbells}: calls of the device to post sends; the posting thread's. */
  public static final int VERBS_QUEUE_PAIR_DOORBELLS_OFFSET = 24;
  /** Offset of {@code VERBS_QUEUE_PAIR.sent_head}: sends ever completed; the polling thread's. */
  public static final int VERBS_QUEUE_PAIR_SENT_HEAD_OFFSET = 64;
  /** Offset of {@code VERBS_QUEUE_PAIR.received_head}: receives ever completed; the polling thread's. */
  public static final int VERBS_QUEUE_PAIR_RECEIVED_HEAD_OFFSET = 72;

  /** Bytes of the record {@code VERBS_COMPLETION_QUEUE}. */
  public static final int VERBS_COMPLETION_QUEUE_SIZE = 64;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.head}: completions ever taken from the ring, by Java; modulo 2^32. */
  public static final int VERBS_COMPLETION_QUEUE_HEAD_OFFSET = 0;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.tail}: completions ever put into the ring; modulo 2^32. */
  public static final int VERBS_COMPLETION_QUEUE_TAIL_OFFSET = 4;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.ring}: address of the verbs_completion records. */
  public static final int VERBS_COMPLETION_QUEUE_RING_OFFSET = 8;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.ring_mask}: entries of the ring minus one. */
  public static final int VERBS_COMPLETION_QUEUE_RING_MASK_OFFSET = 16;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.spin_ns}: await spins this long at most before it sleeps. */
  public static final int VERBS_COMPLETION_QUEUE_SPIN_NS_OFFSET = 20;
  /** Offset of {@code VERBS_COMPLETION_QUEUE.sleeps}: awaits that slept. */
  public static final int VERBS_COMPLETION_QUEUE_SLEEPS_OFFSET = 24;
  /** flag: atomics are atomic against others of the same device. */
  public static final int VERBS_ATOMICS = 1;
  /** flag: memory windows of type 2B. */
  public static final int VERBS_WINDOWS_2B = 2;
  /** flag: the library says that a write's bytes land in order. */
  public static final int VERBS_DATA_IN_ORDER = 4;
  /** flag: the library could be asked for that order. */
  public static final int VERBS_DATA_ORDER_KNOWN = 16;
  /** bytes of private data in an event of the connection manager. */
  public static final int VERBS_EVENT_DATA_MAX = 256;
  /** bytes of private data in a connection request over RDMA_PS_TCP. */
  public static final int VERBS_REQUEST_DATA_MAX = 56;
  /** bytes of private data in the acceptance of a request, one less than fit: their number. */
  public static final int VERBS_ACCEPT_DATA_MAX = 195;
  /** bytes of private data in the rejection of a request. */
  public static final int VERBS_REJECT_DATA_MAX = 148;

  /** Bytes of the record {@code VERBS_DEVICE}. */
  public static final int VERBS_DEVICE_SIZE = 144;
  /** Offset of {@code VERBS_DEVICE.name}: of the device, zero-terminated. */
  public static final int VERBS_DEVICE_NAME_OFFSET = 0;
  /** Offset of {@code VERBS_DEVICE.port}: number, from 1. */
  public static final int VERBS_DEVICE_PORT_OFFSET = 64;
  /** Offset of {@code VERBS_DEVICE.port_state}: ibv_port_state. */
  public static final int VERBS_DEVICE_PORT_STATE_OFFSET = 68;
  /** Offset of {@code VERBS_DEVICE.link_layer}: IBV_LINK_LAYER_INFINIBAND 1, IBV_LINK_LAYER_ETHERNET 2. */
  public static final int VERBS_DEVICE_LINK_LAYER_OFFSET = 72;
  /** Offset of {@code VERBS_DEVICE.active_mtu}: bytes. */
  public static final int VERBS_DEVICE_ACTIVE_MTU_OFFSET = 76;
  /** Offset of {@code VERBS_DEVICE.gid_index}: of the newest kind of GID that names an IPv4 address, else of the first GID; -1 for none. */
  public static final int VERBS_DEVICE_GID_INDEX_OFFSET = 80;
  /** Offset of {@code VERBS_DEVICE.max_queue_pair_work}: work requests of one queue of a pair. */
  public static final int VERBS_DEVICE_MAX_QUEUE_PAIR_WORK_OFFSET = 84;
  /** Offset of {@code VERBS_DEVICE.max_scatter_gather}: elements of one work request. */
  public static final int VERBS_DEVICE_MAX_SCATTER_GATHER_OFFSET = 88;
  /** Offset of {@code VERBS_DEVICE.max_inline}: bytes that a small queue pair takes inline, as tried. */
  public static final int VERBS_DEVICE_MAX_INLINE_OFFSET = 92;
  /** Offset of {@code VERBS_DEVICE.max_completions}: entries of one completion queue. */
  public static final int VERBS_DEVICE_MAX_COMPLETIONS_OFFSET = 96;
  /** Offset of {@code VERBS_DEVICE.max_reads}: reads and atomics that a queue pair can be the target of at once. */
  public static final int VERBS_DEVICE_MAX_READS_OFFSET = 100;
  /** Offset of {@code VERBS_DEVICE.max_region_bytes}: bytes of one memory region. */
  public static final int VERBS_DEVICE_MAX_REGION_BYTES_OFFSET = 104;
  /** Offset of {@code VERBS_DEVICE.flags}: VERBS_ATOMICS, VERBS_WINDOWS_2B, VERBS_DATA_IN_ORDER, VERBS_DATA_ORDER_KNOWN. */
  public static final int VERBS_DEVICE_FLAGS_OFFSET = 112;
  /** Offset of {@code VERBS_DEVICE.ipv4}: address that the GID names, else zero. */
  public static final int VERBS_DEVICE_IPV4_OFFSET = 116;
  /** Offset of {@code VERBS_DEVICE.context}: ibv_context it was asked through; 0 when it was opened for the question only. */
  public static final int VERBS_DEVICE_CONTEXT_OFFSET = 120;
  /** Offset of {@code VERBS_DEVICE.max_queue_pairs}: queue pairs. */
  public static final int VERBS_DEVICE_MAX_QUEUE_PAIRS_OFFSET = 128;
  /** Offset of {@code VERBS_DEVICE.max_regions}: memory regions. */
  public static final int VERBS_DEVICE_MAX_REGIONS_OFFSET = 132;
  /** Offset of {@code VERBS_DEVICE.gid_type}: of that GID: ibv_gid_type. */
  public static final int VERBS_DEVICE_GID_TYPE_OFFSET = 136;

  /** Bytes of the record {@code VERBS_EVENT}. */
  public static final int VERBS_EVENT_SIZE = 264;
  /** Offset of {@code VERBS_EVENT.status}: negated errno, or the reason of a rejection. */
  public static final int VERBS_EVENT_STATUS_OFFSET = 0;
  /** Offset of {@code VERBS_EVENT.length}: bytes of private data. */
  public static final int VERBS_EVENT_LENGTH_OFFSET = 4;
  /** Offset of {@code VERBS_EVENT.data}: private data of the peer, as it was given. */
  public static final int VERBS_EVENT_DATA_OFFSET = 8;
  /** part of the longest spin that is always tried. */
  public static final int SPIN_FLOOR_PART = 32;
  /** spins in vain after which the longest is tried again: two peers that both sleep would never notice that spinning pays again. */
  public static final int SPIN_MISSES_MAX = 32;

  /** Hash of the layouts; peers and pools compare it. */
  public static final long LAYOUT_HASH = 0xfcb9a075f4a58149L;

  private Layout() {}
}
