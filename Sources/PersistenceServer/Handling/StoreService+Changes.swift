import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

extension StoreService {
  /// The changes since a checkpoint, or the present checkpoint without one.
  func changes(_ name: String, _ request: ServiceRequest) throws -> Answer {
    let parameters = try request.parameters(known: ["since", "limit"])
    let limit = try parameters.count("limit") ?? limits.pageSize
    guard (1...limits.pageSize).contains(limit) else {
      throw PersistenceError.invalidRequest("“limit” is a number from 1 to \(limits.pageSize)")
    }
    let reader = try changeReader(name, request)
    let since = try parameters["since"].map { try Checkpoint(token: $0) }
    let part = try reader.read(since: since, limit: limit, sizeLimit: limits.pageBytes)
    if part.isReset { throw Self.checkpointExpired(reader.schema.name) }
    return Answer(status: 200, body: .json(String(decoding: part.json, as: UTF8.self)), isCompressible: true)
  }

  /// The events of a stream of changes.
  func events(_ name: String, _ request: ServiceRequest) throws -> ChangeEvents {
    let parameters = try request.parameters(known: ["since"])
    // A browser that reconnects repeats the URL, and adds the newer checkpoint.
    let token = request.lastEventID.flatMap { $0.isEmpty ? nil : $0 } ?? parameters["since"]
    let since = try token.map { try Checkpoint(token: $0) }
    return ChangeEvents(
      try changeReader(name, request), since: since, limit: limits.pageSize,
      sizeLimit: min(limits.pageBytes, 1 << 20))
  }

  private func changeReader(_ name: String, _ request: ServiceRequest) throws -> ChangeReader {
    let service = try serving(request)
    let schema = try service.schema(name, in: service.context)
    let stored = try service.context.snapshot().storedRequest(for: FetchRequest(schema)).schema
    guard !stored.isReserved else { throw Self.unknownModel }
    let feed = try feeds.feed(of: stored.name, in: context, limit: limits.rememberedChanges)
    return ChangeReader(feed: feed, store: context, schema: schema, stored: stored, fitted: service.context)
  }

  static func checkpointExpired(_ model: String) -> Problem {
    Problem(
      status: 410, .checkpointExpired,
      "the changes since the checkpoint are not all known any more; get a new checkpoint, and then all records",
      model: model)
  }
}

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
