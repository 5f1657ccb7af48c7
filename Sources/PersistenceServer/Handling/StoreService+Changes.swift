#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP

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
      return Answer(status: 200, body: .json(part.json), isCompressible: true)
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
      let snapshot = try service.context.snapshot()
      let stored = try snapshot.storedRequest(for: FetchRequest(schema)).schema
      guard !stored.isReserved else { throw Self.unknownModel }
      let isStored = try snapshot.schema(named: stored.name) != nil
      let feed = try feeds.feed(
        of: stored.name, isStored: isStored, in: context, limit: limits.rememberedChanges)
      return ChangeReader(feed: feed, store: context, schema: schema, stored: stored, fitted: service.context)
    }

    static func checkpointExpired(_ model: String) -> Problem {
      Problem(
        status: 410, .checkpointExpired,
        "the changes since the checkpoint are not all known any more; get a new checkpoint, and then all records",
        model: model)
    }
  }
#endif
