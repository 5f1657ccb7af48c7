package import PersistenceDriver
import PersistencePrimitives

/// A transaction that keeps the references of a store (contract L1 to L3).
///
/// It wraps the engine's transaction directly, so that it sees stored schemas, and every write passes through it. It notes
/// the keys that written records refer to, and ``finish()`` looks them up. A delete changes or deletes the referring
/// records before it returns.
package final class KeepingTransaction: StorageTransactionWrapper, PipelinedTransaction {
  package let wrapped: any StorageTransaction
  let location: String
  private var known: ReferenceMap?
  var notes = ReferenceNotes()
  /// The schemas whose declared references the store has, by identity.
  var declared: [ObjectIdentifier: ModelSchema] = [:]

  package init(_ wrapped: any StorageTransaction, location: String) {
    self.wrapped = wrapped
    self.location = location
  }

  /// The references of the store, read once.
  var map: ReferenceMap {
    get throws {
      if let known { return known }
      let map = ReferenceMap(try ReferenceLedger.entries(wrapped))
      known = map
      return map
    }
  }

  /// Reads the references again, after a change.
  func forgetReferences() { known = nil }

  /// Reads the references again, and declares those of code again: a nested transaction may have undone them.
  package func forgetDeclarations() {
    known = nil
    declared.removeAll()
  }
}

extension KeepingTransaction {
  package func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
    try note(row, in: schema)
  }

  package var isPipelining: Bool { wrapped.isPipeline }

  package func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insertAhead(row, in: schema)
    try note(row, in: schema)
  }

  package func waitForInsertions() throws -> Bool { try wrapped.waitForInsertions() }

  package func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
    try note(row, in: schema)
  }

  package func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.save(row, in: schema)
    try note(row, in: schema)
  }

  package func update(_ request: UpdateRequest) throws -> Int {
    let count = try wrapped.update(request)
    guard count > 0 else { return 0 }
    let schema = request.rows.schema
    for field in try map.outgoing(schema).fields {
      let name = StoredName(schema.fields[field.position].name)
      for assignment in request.assignments
      where StoredName(assignment.field) == name && !assignment.value.isNull {
        notes.add(assignment.value, of: field.target)
      }
    }
    return count
  }

  package func nested(_ body: () throws -> Void) throws {
    notes.beginNested()
    var isKept = false
    defer {
      notes.endNested(isKept: isKept)
      if !isKept { forgetDeclarations() }
    }
    try wrapped.nested(body)
    isKept = true
  }

  /// Notes the keys that a written row refers to.
  private func note(_ row: borrowing Row, in schema: ModelSchema) throws {
    for field in try map.outgoing(schema).fields where !row[field.position].isNull {
      notes.add(try row.value(at: field.position), of: field.target)
    }
    if notes.isFull { try removeNotesOfExistingRecords() }
  }
}

extension KeepingTransaction {
  package func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    guard try map.outgoing(schema).isTarget else { return try wrapped.delete(key, in: schema) }
    var isDeleted = false
    try wrapped.nested {
      isDeleted = try wrapped.delete(key, in: schema)
      if isDeleted { try follow([key.values[0]], StoredName(schema.name)) }
    }
    return isDeleted
  }

  package func delete(_ request: FetchRequest) throws -> Int {
    guard try map.outgoing(request.schema).isTarget else { return try wrapped.delete(request) }
    return try deleteTargets(request) { try wrapped.delete(request) }
  }

  package func deleteAll(in schema: ModelSchema) throws -> Int {
    guard try map.outgoing(schema).isTarget else { return try wrapped.deleteAll(in: schema) }
    return try deleteTargets(FetchRequest(schema)) { try wrapped.deleteAll(in: schema) }
  }

  package func drop(_ schema: ModelSchema) throws {
    let isTarget = try map.outgoing(schema).isTarget
    try wrapped.drop(schema)
    if isTarget { notes.addAll(of: StoredName(schema.name)) }
  }

  /// Deletes the rows of a request, and then what follows, in chunks of keys.
  private func deleteTargets(_ request: FetchRequest, _ delete: () throws -> Int) throws -> Int {
    let keys = try ScratchKeys(of: request, in: wrapped)
    var count = 0
    try wrapped.nested {
      count = try delete()
      try keys.forEachChunk { try follow($0, StoredName(request.schema.name)) }
    }
    return count
  }
}
