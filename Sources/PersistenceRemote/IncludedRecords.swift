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
    _ page: RemotePage, _ query: RemoteQuery, _ related: [any PersistentRecord.Type], at server: RemoteServer
  ) throws(PersistenceError) {
    location = server.client.location
    do {
      let schemas = try related.map { try $0.declaration.schema }
      try store.transaction { transaction in
        for schema in schemas { try transaction.define(schema) }
        for (model, records) in page.included {
          guard let schema = schemas.first(where: { StoredName($0.name) == StoredName(model) }) else {
            throw PersistenceError.damaged("it includes records of \(model), which nobody asked for")
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
