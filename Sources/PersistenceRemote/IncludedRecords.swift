#if HTTP
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// The included records of a page, from which its tuples are made as from a store.
  struct IncludedRecords {
    private let store = MemoryContext()
    private let location: String

    init(
      _ page: RemotePage, _ query: RemoteQuery, _ related: [any PersistentRecord.Type],
      at server: RemoteServer
    ) throws(PersistenceError) {
      location = server.client.location
      do {
        let schemas = try related.map { try $0.declaration.schema }
        try store.transaction { transaction in
          for schema in schemas { try transaction.define(schema) }
          for (model, records) in page.included {
            guard let schema = schemas.first(where: { StoredName($0.name) == StoredName(model) }) else {
              throw PersistenceError.damaged("it includes records of \(model), which was not asked for")
            }
            let row = RowBuffer(count: schema.fields.count)
            for record in records {
              try RecordJSON.read(record, schema, into: row)
              try row.withRow { try transaction.save($0, in: schema) }
            }
          }
        }
      } catch {
        throw PersistenceError(
          .damaged,
          "cannot read the records that the server includes: \((error as? PersistenceError)?.message ?? "\(error)")",
          model: query.schema.name, location: location)
      }
    }

    func elements<Object: PersistentRecord, Element: Sendable>(
      of objects: [Object], _ inclusion: Inclusion<Object, Element>
    ) throws(PersistenceError) -> [Element] {
      try PersistenceError.catching {
        try inclusion.elements(of: objects, in: store.snapshot(), location: location)
      }
    }
  }

  /// A page of records with those that it includes.
  struct RemotePage: Sendable {
    let records: [JSONValue]
    /// The included records of each model.
    let included: [(model: String, records: [JSONValue])]
    /// The token of the next page; nil at the end.
    let next: String?

    /// A page from a server's answer; nil if it is none.
    init?(_ json: JSONValue) {
      guard case .array(let records)? = json.member("records") else { return nil }
      self.records = records
      var included: [(model: String, records: [JSONValue])] = []
      switch json.member("included") {
      case .object(let members)?:
        for member in members {
          guard case .array(let records) = member.value else { return nil }
          included.append((member.name, records))
        }
      case nil: break
      default: return nil
      }
      self.included = included
      switch json.member("next") {
      case .string(let token)?: next = token
      case .null?: next = nil
      default: return nil
      }
    }
  }
#endif
