package import PersistenceDriver
import PersistencePlanner

extension KeyValueTransaction {
  package func update(_ request: UpdateRequest) throws -> Int {
    try requireOpen()
    guard let binding = try changingBinding(request.rows.schema), request.rows.limit != 0 else { return 0 }
    try settleCounts()
    let query = try PreparedQuery(
      request.rows, binding, writer, location: store.location, needs: .keys(of: request.rows))
    return try update(request, query)
  }

  /// Changes the rows that a query finds.
  func update(_ request: UpdateRequest, _ query: PreparedQuery) throws -> Int {
    let binding = query.binding
    let keys = try query.storedKeys(writer)
    guard keys.count > 0 else { return 0 }
    let change = FieldChange(request, binding)
    guard change.canCollide else {
      try self.change(keys, change, binding)
      return keys.count
    }
    // Only a unique value can be refused half way, and then everything is undone.
    try nested { try self.change(keys, change, binding) }
    return keys.count
  }

  private func change(_ keys: StoredKeys, _ change: FieldChange, _ binding: ModelBinding) throws {
    let row = writer.workspace.takeRow(binding.layout.count)
    defer { writer.workspace.giveBack(row) }
    let access = RecordAccess(binding, writer, location: store.location)
    for index in 0..<keys.count {
      try keys.withKey(at: index) { key in
        guard let old = try writer.value(of: key, in: .records) else {
          throw PersistenceError.damaged("a record that is to be changed is gone")
            .at(model: binding.declared.name, location: store.location)
        }
        let record = ByteEntry(key: key, value: old)
        try access.lend(record, row) { _ in }
        for (position, value) in change.values { row.set(value, at: position) }
        try row.withRow { row in
          let length = try binding.layout.packedLength(of: row)
          if change.touchesIndexes {
            let entries = try IndexChange(
              binding, old: record, new: row, storedKey: key, writer, location: store.location)
            try attempt { try entries.apply(to: writer) }
          }
          _ = try put(row, binding, key, length, isReplacing: true)
        }
      }
    }
  }
}

/// What an update sets, by declared position, and what that concerns.
private struct FieldChange {
  let values: [(Int, PersistentValue)]
  /// Whether a field of an index is set.
  let touchesIndexes: Bool
  /// Whether a field of a unique index is.
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
