#if HTTP
  import Foundation
  import NIOHTTP1
  import PersistenceDriver
  import PersistenceHTTP
  import PersistenceDriverSupport
  import PersistencePrimitives

  /// The dialect of a third-party server, from a mapping.
  struct MappedDialect: RemoteDialect {
    let client: RemoteClient
    let mapping: RemoteMapping
    let seeksByKey = false

    func insert(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue {
      let reply = try await client.reply(
        to: .init(method: .POST, path: collection(record.schema), body: outgoing(record)))
      if reply.status == 409 {
        throw PersistenceError.duplicateKey(record.key, in: record.schema).at(location: client.location)
      }
      return try stored(record, reply)
    }

    func update(_ record: any RemoteRow, replacing expected: (any RemoteRow)?) async throws(PersistenceError)
      -> JSONValue
    {
      var tag = "*"
      if let expected {
        let reply = try await client.reply(to: .init(method: .GET, path: path(record.key, record.schema)))
        let now = try incoming(
          try content(of: reply, mapping.record, record.schema, record.key), record.schema)
        guard EntityTag(ofLine: JSONText.canonical(now)) == expected.tag else {
          throw PersistenceError(
            .conflict, "the stored record differs from the expected one; read it and apply the change again",
            model: record.schema.name, key: record.key, location: client.location)
        }
        guard let text = reply.headers.first(name: "ETag") else {
          throw PersistenceError.unsupported(
            "update a record conditionally, since it sends no ETag", by: client.location)
        }
        tag = text
      }
      return try stored(record, try await client.reply(to: replacement(record, [("If-Match", tag)])))
    }

    func save(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue {
      let reply = try await client.reply(to: replacement(record, []))
      // Some servers replace only existing records: insert the record by POST.
      if reply.status == 404 || reply.status == 405 { return try await insert(record) }
      return try stored(record, reply)
    }

    func delete(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue? {
      guard let before = try await find(record.key, record.schema) else { return nil }
      let reply = try await client.reply(to: .init(method: .DELETE, path: path(record.key, record.schema)))
      if reply.status == 404 || reply.status == 410 { return nil }
      try require(reply, record.schema, record.key)
      return before
    }

    func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError)
      -> Bool
    {
      throw PersistenceError.unsupported("apply a batch in one transaction", by: client.location).at(
        model: schema.name)
    }

    func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue? {
      let reply = try await client.reply(to: .init(method: .GET, path: path(key, schema)))
      if reply.status == 404 || reply.status == 410 { return nil }
      return try incoming(try content(of: reply, mapping.record, schema, key), schema)
    }

    func count(_ query: RemoteQuery) async throws(PersistenceError) -> Int {
      var count = 0
      guard let rows = try await fetch(query) else { return 0 }
      while try await rows() != nil { count += 1 }
      return count
    }

    func page(_ query: RemoteQuery) async throws(PersistenceError) -> RemotePage? {
      throw .unsupported("include related records", by: client.location)
    }

    func fetch(_ asked: RemoteQuery) async throws(PersistenceError) -> Rows? {
      let request = try asked.plainRequest(at: client.location)
      let query = try MappedQuery(request, mapping, at: client.location)
      let pager = MappedPager(query: query, location: client.location) { path throws(PersistenceError) in
        let reply = try await client.reply(to: .init(method: .GET, path: path))
        guard case .array(let records) = try content(of: reply, mapping.records, request.schema, nil) else {
          throw malformed("the records are not an array", request.schema)
        }
        var found: [JSONValue] = []
        for record in records { found.append(try incoming(record, request.schema)) }
        return MappedPage(records: found, total: try total(reply, request.schema))
      }
      return { () async throws(PersistenceError) in try await pager.next() }
    }

    private func total(_ reply: RemoteClient.Reply, _ schema: ModelSchema) throws(PersistenceError) -> Int? {
      guard !mapping.total.isEmpty else { return nil }
      guard case .number(let text) = try content(of: reply, mapping.total, schema, nil), let total = Int(text)
      else { throw malformed("the number of records is not an integer", schema) }
      return total
    }

    private func collection(_ schema: ModelSchema) -> String { mapping.path(of: schema) }

    private func path(_ key: RecordKey, _ schema: ModelSchema) -> String {
      collection(schema) + "/"
        + zip(key.values, schema.keyPositions)
        .map { PathSegment.escaped(ValueWriter.text($0, schema.fields[$1].kind)) }.joined(separator: "/")
    }

    private func replacement(_ record: any RemoteRow, _ headers: [(String, String)]) -> RemoteClient.Call {
      .init(
        method: mapping.replacing == .put ? .PUT : .PATCH, path: path(record.key, record.schema),
        body: outgoing(record), headers: headers)
    }

    private func outgoing(_ record: any RemoteRow) -> JSONValue {
      guard case .object(let members) = record.json else { return record.json }
      return .object(members.map { JSONMember(mapping.member(of: $0.name), $0.value) })
    }

    /// The record with the fields' names, without other members.
    private func incoming(_ json: JSONValue, _ schema: ModelSchema) throws(PersistenceError) -> JSONValue {
      guard case .object = json else { throw malformed("a record is \(json.kind)", schema) }
      let members = schema.fields.compactMap { field in
        json.member(mapping.member(of: field.name)).map { JSONMember(field.name, $0) }
      }
      do {
        // Decode and encode, to get our canonical form of dates and numbers.
        let row = RowBuffer(count: schema.fields.count)
        try RecordJSON.read(.object(members), schema, into: row, by: .lenient)
        return try row.withRow { try ValueWriter.json($0, in: schema) }
      } catch {
        throw malformed("\((error as? PersistenceError)?.message ?? "\(error)")", schema)
      }
    }

    /// The stored record from the answer; the sent one if the answer is empty.
    private func stored(_ record: any RemoteRow, _ reply: RemoteClient.Reply) throws(PersistenceError)
      -> JSONValue
    {
      try require(reply, record.schema, record.key)
      if reply.body.isEmpty { return record.json }
      return try incoming(try content(of: reply, mapping.record, record.schema, record.key), record.schema)
    }

    private func require(_ reply: RemoteClient.Reply, _ schema: ModelSchema, _ key: RecordKey?)
      throws(PersistenceError)
    {
      guard (200..<300).contains(reply.status) else {
        throw RemoteFailure(fromThirdParty: reply, at: client.location).error.at(model: schema.name, key: key)
      }
    }

    private func content(
      of reply: RemoteClient.Reply, _ path: [String], _ schema: ModelSchema, _ key: RecordKey?
    ) throws(PersistenceError) -> JSONValue {
      try require(reply, schema, key)
      var json = try reply.json()
      for name in path {
        guard let member = json.member(name) else { throw malformed("it lacks the member “\(name)”", schema) }
        json = member
      }
      return json
    }

    private func malformed(_ reason: String, _ schema: ModelSchema) -> PersistenceError {
      PersistenceError(
        .damaged, "the server's answer does not match the mapping: \(reason)", model: schema.name,
        location: client.location)
    }
  }

  extension RemoteMapping {
    func path(of schema: ModelSchema) -> String {
      collections[schema.name] ?? "/" + PathSegment.escaped(schema.name)
    }

    func member(of field: String) -> String { members[field] ?? field }
  }
#endif
