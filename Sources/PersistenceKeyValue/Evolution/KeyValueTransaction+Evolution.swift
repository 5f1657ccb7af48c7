package import PersistenceDriver
import PersistenceDriverSupport

extension KeyValueStore {
  /// The cost of a change of schema.
  package func cost(of change: SchemaChange, _ reader: any ByteReader) throws -> EvolutionCost {
    guard let model = try binding(change.stored, reader)?.model else { return .catalog }
    return try EvolutionPlan(change, of: model, isEmpty: try Catalog.count(of: model, reader) == 0).cost
  }

  /// The indexes of a model that no request may read yet.
  package func unbuiltIndexes(of schema: ModelSchema, _ reader: any ByteReader) throws -> [IndexSchema] {
    try binding(schema, reader)?.model.unbuiltIndexes ?? []
  }
}

extension KeyValueTransaction {
  /// The memory for rewritten records that are not yet stored, in bytes.
  private static var rewriteMemory: Int { 8 << 20 }

  package func cost(of change: SchemaChange) throws -> EvolutionCost {
    try requireOpen()
    guard let binding = try binding(change.stored) else { return .catalog }
    return try EvolutionPlan(change, of: binding.model, isEmpty: try count(of: binding) == 0).cost
  }

  package func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try requireOpen()
    return try binding(schema)?.model.unbuiltIndexes ?? []
  }

  package func evolve(_ change: SchemaChange) throws {
    try requireOpen()
    try nested { try apply(change) }
  }

  private func apply(_ change: SchemaChange) throws {
    guard let old = try changingBinding(change.stored) else {
      throw PersistenceError.schemaMismatch(
        model: change.stored.name, location: store.location,
        differences: ["the store does not contain the model"])
    }
    let (oldName, newName) = (StoredName(change.stored.name), StoredName(change.target.name))
    if oldName != newName, try schema(named: change.target.name) != nil {
      throw PersistenceError.schemaMismatch(
        model: change.target.name, location: store.location,
        differences: ["\(change.target.name): already in the store"])
    }
    let plan = try EvolutionPlan(change, of: old.model, isEmpty: try count(of: old) == 0)
    let new = ModelBinding(plan.model, declared: change.target)
    for prefix in plan.removedIndexes {
      try prefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .indexes) }
    }
    if plan.isRewriting { try rewrite(change, from: old, to: new) }
    try Catalog.write(plan.model, writer)
    try Catalog.setEvolved(writer)
    if plan.restartsBuild { try BuildBookmark.remove(plan.model, writer) }
    if !plan.addedIndexes.isEmpty {
      let added = plan.addedIndexes.map { new.storedIndexes[$0] }
      let build = try IndexBuild(new, only: added, writer, store.indexBuilding, location: store.location)
      try build.writeAll(to: writer)
    }
    if oldName != newName {
      changes.models[oldName] = nil
      changes.dropped.insert(oldName)
    }
    changes.models[newName] = plan.model
    changes.generations += 1
    forgetBindings()
  }

  /// Rewrites all records, a batch at a time: a write invalidates the bytes that a cursor returned.
  private func rewrite(_ change: SchemaChange, from old: ModelBinding, to new: ModelBinding) throws {
    var batch = EntryBatch(limit: Self.rewriteMemory)
    let last = ByteBuffer()
    var done = 0
    repeat {
      batch.removeAll()
      try collect(change, from: old, to: new, after: last, &batch, &done)
      try batch.forEach { key, value in
        try writer.reserve(key, count: value.count, in: .records, isReplacing: true)?.copyMemory(from: value)
      }
    } while !batch.isEmpty
  }

  /// Collects the rewritten records after a stored key, until the batch is full; advances the key.
  private func collect(
    _ change: SchemaChange, from old: ModelBinding, to new: ModelBinding, after last: ByteBuffer,
    _ batch: inout EntryBatch, _ done: inout Int
  ) throws {
    let access = RecordAccess(old, writer, location: store.location)
    let row = writer.workspace.acquireRow(old.layout.count)
    let target = RowBuffer(count: new.layout.count)
    let cursor = try writer.acquireCursor(in: .records)
    defer {
      writer.release(cursor)
      writer.workspace.release(row)
    }
    try old.prefix.withUnsafeBytes { prefix in
      var next = try cursor.seek(last.bytes.isEmpty ? prefix : last.bytes)
      if let entry = next, !last.bytes.isEmpty, entry.key.elementsEqual(last.bytes) {
        next = try cursor.next()
      }
      while !batch.isFull, let record = next, ByteOrder.begins(record.key, with: prefix) {
        try StoreProgress.report(done)
        done += 1
        try access.read(record, row) { target.set(try change.values(from: $0).lazy.map(\.normalized)) }
        try target.withRow { row in
          var bytes = [UInt8](repeating: 0, count: try new.layout.packedLength(of: row))
          bytes.withUnsafeMutableBytes { new.layout.pack(row, into: $0) }
          bytes.withUnsafeBytes { batch.add(record.key, $0) }
        }
        last.clear()
        last.append(record.key)
        next = try cursor.next()
      }
    }
  }
}
