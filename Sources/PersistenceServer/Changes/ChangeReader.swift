#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// Reads the changes of one model, in terms of one client.
  struct ChangeReader: Sendable {
    /// Some changes as JSON.
    struct Part {
      var json: [UInt8] = []
      var checkpoint: Checkpoint
      var isEmpty = true
      /// Whether more changes follow.
      var hasMore = false
      /// Whether some changes since the checkpoint are unknown; then there are none here.
      var isReset = false
    }

    let feed: ChangeFeed
    let store: any StorageContext
    /// The schema of the client, and that of the store.
    let schema: ModelSchema
    let stored: ModelSchema
    /// The store, as the client declares it.
    let fitted: any StorageContext

    /// The changes since a checkpoint, the oldest first, up to a number of records and about a number of bytes.
    func read(since: Checkpoint?, limit: Int, sizeLimit: Int) throws -> Part {
      let pull = try feed.pull(since: since, limit: limit + 1, stored, in: store)
      var part = Part(checkpoint: pull.newest)
      part.isReset = pull.keys == nil
      let snapshot = (fitted as? FittedContext)?.wrap(pull.snapshot) ?? pull.snapshot
      let writer = RecordWriter(schema.fields)
      var (saved, deleted) = ([UInt8](), [JSONValue]())
      var last: UInt64 = 0
      for (position, (key, number)) in (pull.keys ?? []).enumerated() {
        guard position < limit, position == 0 || saved.count < sizeLimit else {
          part.hasMore = true
          part.checkpoint.number = last
          break
        }
        // The state of the snapshot, which may be that of a later change of the key.
        let exists = try snapshot.find(key, in: schema) { row in
          if !saved.isEmpty { saved.append(UInt8(ascii: ",")) }
          try writer.append(row, to: &saved)
        }
        if !exists { deleted.append(try RecordJSON.json(key, schema)) }
        last = number
        part.isEmpty = false
      }
      part.json =
        Array("{\"checkpoint\":\"\(part.checkpoint.token)\",\"deleted\":".utf8)
        + Array(JSONText.canonical(.array(deleted)).utf8)
        + Array(",\"hasMore\":\(part.hasMore),\"saved\":[".utf8) + saved + Array("]}".utf8)
      return part
    }
  }
#endif
