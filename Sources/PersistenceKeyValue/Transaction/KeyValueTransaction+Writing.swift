package import PersistenceDriver
import PersistencePlanner

extension KeyValueTransaction {
  /// What a write expects of the key.
  private enum Expectation {
    case absent
    case present
    case either
  }

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
    let binding = try writableBinding(schema)
    let length = try binding.layout.packedLength(of: row)
    let stored = writtenKey
    stored.clear()
    try binding.appendKey(of: row, to: stored)
    KeyForm.records(longest: writer.longestKey).storeRecordKey(stored)
    if !binding.hasUniqueIndex, expectation != .present {
      // One descent where the record is new, which is the common case.
      if !binding.indexes.isEmpty {
        try newEntries.prepare(
          row, binding, storedKey: stored.bytes, .entries(longest: writer.longestKey))
      }
      if try put(row, binding, stored.bytes, length, isReplacing: false) {
        if !binding.indexes.isEmpty { try attempt { try newEntries.write(to: writer) } }
        return try count(1, in: binding)
      }
      guard expectation == .either else {
        throw PersistenceError.duplicateKey(try RecordKey(of: row, in: schema), in: schema)
          .at(location: store.location)
      }
      if binding.indexes.isEmpty {
        _ = try put(row, binding, stored.bytes, length, isReplacing: true)
        return
      }
    }
    let old = try writer.value(of: stored.bytes, in: .records)
    switch (expectation, old == nil) {
    case (.absent, false):
      throw PersistenceError.duplicateKey(try RecordKey(of: row, in: schema), in: schema)
        .at(location: store.location)
    case (.present, true):
      throw PersistenceError.notFound(try RecordKey(of: row, in: schema), in: schema)
        .at(location: store.location)
    default: break
    }
    let change = try IndexChange(
      binding, old: old.map { ByteEntry(key: stored.bytes, value: $0) }, new: row, storedKey: stored.bytes,
      writer, location: store.location)
    try attempt { try change.apply(to: writer) }
    _ = try put(row, binding, stored.bytes, length, isReplacing: true)
    if old == nil { try count(1, in: binding) }
  }

  func put(
    _ row: borrowing Row, _ binding: ModelBinding, _ key: UnsafeRawBufferPointer, _ length: Int,
    isReplacing: Bool
  ) throws -> Bool {
    // Closures cannot capture a borrowed row, so failing is handled here.
    changed()
    do {
      let buffer = try writer.reserve(key, count: length, in: .records, isReplacing: isReplacing)
      guard let buffer else { return false }
      binding.layout.pack(row, into: buffer)
      return true
    } catch {
      throw failed(error)
    }
  }

  package func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try requireOpen()
    try key.validate(for: schema)
    guard let binding = try changingBinding(schema) else { return false }
    let stored = writer.workspace.takeBuffer()
    defer { writer.workspace.giveBack(stored) }
    try binding.appendKey(key, to: stored)
    KeyForm.records(longest: writer.longestKey).storeRecordKey(stored)
    return try delete(stored: stored.bytes, binding)
  }

  private func delete(stored key: UnsafeRawBufferPointer, _ binding: ModelBinding) throws -> Bool {
    if binding.indexes.isEmpty {
      guard try attempt({ try writer.remove(key, in: .records) }) else { return false }
    } else {
      guard let old = try writer.value(of: key, in: .records) else { return false }
      let change = try IndexChange(
        removing: ByteEntry(key: key, value: old), binding, writer, location: store.location)
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
    try settleCounts()
    let query = try PreparedQuery(
      request, binding, writer, location: store.location, needs: .keys(of: request))
    return try delete(query)
  }

  /// Deletes the rows that a query finds.
  func delete(_ query: PreparedQuery) throws -> Int {
    let binding = query.binding
    let keys = try query.storedKeys(writer)
    for index in 0..<keys.count {
      try keys.withKey(at: index) { _ = try delete(stored: $0, binding) }
    }
    return keys.count
  }

  package func deleteAll(in schema: ModelSchema) throws -> Int {
    try requireOpen()
    guard let binding = try changingBinding(schema) else { return 0 }
    let removed = try self.count(of: binding)
    try attempt {
      try binding.prefix.withUnsafeBytes { prefix in
        try writer.removeAll(beginningWith: prefix, in: .indexes)
        try writer.removeAll(beginningWith: prefix, in: .records)
      }
    }
    try count(-removed, in: binding)
    return removed
  }
}
