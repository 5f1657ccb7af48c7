package import PersistenceDriver

extension KeyValueTransaction {
  /// Whether a write requires its key to exist.
  private enum Expectation { case absent, present, either }

  package func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, .absent)
  }

  package func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, .present)
  }

  package func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, .either)
  }

  private func write(_ row: borrowing Row, in schema: ModelSchema, _ expectation: Expectation) throws {
    try requireOpen()
    try schema.validate(row)
    try write(row, in: schema, to: writableBinding(schema), expectation)
  }

  /// Writes a row to a bound model; what a parameter refers to is not retained for each record.
  private func write(
    _ row: borrowing Row, in schema: ModelSchema, to binding: ModelBinding, _ expectation: Expectation
  ) throws {
    let length = try binding.layout.packedLength(of: row)
    let stored = writtenKey
    stored.clear()
    try binding.appendKey(of: row, to: stored)
    binding.storeRecordKey(stored, longest: writer.longestKey)
    let old: UnsafeRawBufferPointer?
    if !binding.hasUniqueIndex, expectation != .present {
      // The common case of a new record takes a single descent of the tree.
      old = try insertNew(row, binding, stored.bytes, length)
      if old == nil { return }
    } else {
      old = try writer.value(of: stored.bytes, in: .records)
    }
    switch (expectation, old == nil) {
    case (.absent, false):
      throw PersistenceError.duplicateKey(try RecordKey(of: row, in: schema), in: schema)
        .at(location: store.location)
    case (.present, true):
      throw PersistenceError.notFound(try RecordKey(of: row, in: schema), in: schema)
        .at(location: store.location)
    default: break
    }
    let isCompared = writer.commitsState && old?.count == length && length <= Self.comparedLength
    let packed: ByteBuffer? = isCompared ? writer.workspace.acquireBuffer() : nil
    defer { if let packed { writer.workspace.release(packed) } }
    if let packed, let old {
      binding.layout.pack(row, into: packed.extend(by: length))
      // Writing the same bytes again would copy the pages of the record and of its entries.
      if TotalOrder.compare(packed.bytes, old) == 0 { return source.invalidateResults() }
    }
    // A save to a model without indexes does not read the stored record, which may be damaged.
    if expectation != .either || !binding.indexes.isEmpty {
      let record = old.map { OrderedEntry(key: stored.bytes, value: $0) }
      let change = try IndexChange(
        binding, old: record, new: row, storedKey: stored.bytes, writer, location: store.location)
      try attempt { try change.apply(to: writer) }
    }
    if let packed {
      try attempt { try writer.put(stored.bytes, packed.bytes, in: .records) }
    } else {
      try put(row, binding, stored.bytes, length)
    }
    if old == nil { try count(1, in: binding) }
  }

  /// The longest record that is compared with the stored one, in memory that the transaction keeps.
  private static var comparedLength: Int { 1 << 20 }

  /// Adds a new record with its index entries; returns the stored record instead if there is one with its key.
  private func insertNew(
    _ row: borrowing Row, _ binding: ModelBinding, _ key: UnsafeRawBufferPointer, _ length: Int
  ) throws -> UnsafeRawBufferPointer? {
    let hasIndexes = !binding.indexes.isEmpty
    if hasIndexes {
      try newEntries.prepare(row, binding, storedKey: key, .entries(longest: writer.longestKey))
    }
    // Closures cannot capture a borrowed row, so errors are handled here.
    source.invalidateResults()
    do {
      switch try writer.insert(key, count: length, in: .records) {
      case .existing(let old): return old
      case .reserved(let memory): binding.layout.pack(row, into: memory)
      }
    } catch {
      throw failed(error)
    }
    if hasIndexes { try attempt { try newEntries.write(to: writer) } }
    try count(1, in: binding)
    return nil
  }

  /// Adds a record, or replaces the one with its key.
  private func put(
    _ row: borrowing Row, _ binding: ModelBinding, _ key: UnsafeRawBufferPointer, _ length: Int
  ) throws {
    source.invalidateResults()
    do {
      let memory = try writer.reserve(key, count: length, in: .records, isReplacing: true)
      if let memory { binding.layout.pack(row, into: memory) }
    } catch {
      throw failed(error)
    }
  }

  package func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try requireOpen()
    try key.validate(for: schema)
    guard let binding = try changingBinding(schema) else { return false }
    let stored = writer.workspace.acquireBuffer()
    defer { writer.workspace.release(stored) }
    try binding.appendKey(key, to: stored)
    binding.storeRecordKey(stored, longest: writer.longestKey)
    return try delete(stored: stored.bytes, binding)
  }

  private func delete(stored key: UnsafeRawBufferPointer, _ binding: ModelBinding) throws -> Bool {
    if binding.indexes.isEmpty {
      guard try attempt({ try writer.remove(key, in: .records) }) else { return false }
    } else {
      guard let old = try writer.value(of: key, in: .records) else { return false }
      let change = try IndexChange(
        removing: OrderedEntry(key: key, value: old), binding, writer, location: store.location)
      try attempt {
        try change.apply(to: writer)
        _ = try writer.remove(key, in: .records)
      }
    }
    try count(-1, in: binding)
    return true
  }

  package func delete(_ request: FetchRequest) throws -> Int {
    try requireOpen()
    guard let binding = try changingBinding(request.schema), request.limit != 0 else { return 0 }
    try flushCounts()
    let query = try PreparedQuery(
      request, binding, writer, location: store.location, needs: .keys(of: request))
    return try delete(query)
  }

  /// Deletes the rows of a query.
  func delete(_ query: PreparedQuery) throws -> Int {
    let binding = query.binding
    let keys = try query.storedKeys(writer)
    try forEach(keys) { _ = try delete(stored: $0, binding) }
    return keys.count
  }

  /// Runs a write of each record of one call.
  ///
  /// If the call ends half way, at a damaged record, the transaction fails (contract W4). A nested transaction, which
  /// would undo the first half, would cost every call.
  private func forEach(_ keys: StoredKeys, _ write: (UnsafeRawBufferPointer) throws -> Void) throws {
    for index in 0..<keys.count {
      do { try keys.withKey(at: index, write) } catch { throw index > 0 ? failed(error) : error }
    }
  }

  package func deleteAll(in schema: ModelSchema) throws -> Int {
    try requireOpen()
    guard let binding = try changingBinding(schema) else { return 0 }
    let removed = try self.count(of: binding)
    try attempt {
      try removeContent(of: binding.model)
    }
    try count(-removed, in: binding)
    return removed
  }
}

extension KeyValueTransaction {
  package func update(_ request: UpdateRequest) throws -> Int {
    try requireOpen()
    guard let binding = try changingBinding(request.rows.schema), request.rows.limit != 0 else { return 0 }
    try flushCounts()
    let query = try PreparedQuery(
      request.rows, binding, writer, location: store.location, needs: .keys(of: request.rows))
    return try update(request, query)
  }

  /// Updates the rows of a query.
  func update(_ request: UpdateRequest, _ query: PreparedQuery) throws -> Int {
    let binding = query.binding
    let keys = try query.storedKeys(writer)
    guard keys.count > 0 else { return 0 }
    let change = FieldChange(request, binding)
    guard change.canCollide else {
      try self.change(keys, change, binding)
      return keys.count
    }
    // Only a unique violation can stop the update half way; the nested transaction then rolls it back.
    try nested { try self.change(keys, change, binding) }
    return keys.count
  }

  private func change(_ keys: StoredKeys, _ change: FieldChange, _ binding: ModelBinding) throws {
    let row = writer.workspace.acquireRow(binding.layout.count)
    defer { writer.workspace.release(row) }
    let access = RecordAccess(binding, writer, location: store.location)
    try forEach(keys) { key in
      guard let old = try writer.value(of: key, in: .records) else {
        throw PersistenceError.damaged("a record to update is missing")
          .at(model: binding.declared.name, location: store.location)
      }
      let record = OrderedEntry(key: key, value: old)
      try access.load(record, into: row)
      for (position, value) in change.values { row.set(value, at: position) }
      try row.withRow { row in
        let length = try binding.layout.packedLength(of: row)
        if change.touchesIndexes {
          let entries = try IndexChange(
            binding, old: record, new: row, storedKey: key, writer, location: store.location)
          try attempt { try entries.apply(to: writer) }
        }
        try put(row, binding, key, length)
      }
    }
  }
}

/// The assignments of an update by declared position, and the indexes that they affect.
private struct FieldChange {
  let values: [(Int, PersistentValue)]
  /// Whether the update sets a field of an index.
  let touchesIndexes: Bool
  /// Whether the update sets a field of a unique index.
  let canCollide: Bool

  init(_ request: UpdateRequest, _ binding: ModelBinding) {
    values = request.assignments.compactMap { assignment in
      binding.declared.position(of: assignment.field).map { ($0, assignment.value) }
    }
    let set = Set(values.map { $0.0 })
    let touched = binding.indexes.filter { !set.isDisjoint(with: $0.positions) }
    touchesIndexes = !touched.isEmpty
    canCollide = touched.contains { $0.schema.isUnique }
  }
}
