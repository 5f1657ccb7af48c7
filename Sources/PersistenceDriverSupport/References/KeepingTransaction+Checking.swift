package import PersistenceDriver
import PersistencePrimitives

extension KeepingTransaction {
  /// Checks the references that this transaction wrote, or whose targets it deleted (contract L1).
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` and a record that refers to an
  ///   absent one.
  package func finish() throws {
    for target in notes.wholeTargets {
      for reference in try map.references(to: target) {
        try wrapped.requireTargets(of: reference, location: location)
      }
    }
    for new in notes.newReferences {
      // A nested transaction that rolled back may have taken the reference with it.
      for reference in try map.all where reference.hasField(of: new.reference) {
        try wrapped.requireTargets(of: reference, begunBy: new, location: location)
      }
    }
    for (target, keys) in notes.newest {
      let absent = try absentKeys(keys, target)
      for chunk in absent.sorted().chunks(of: Self.chunk) { try requireNoReferrers(to: chunk, target) }
    }
  }

  /// Removes the notes of records that exist: a later delete would note them again.
  func removeNotesOfExistingRecords() throws {
    var absent: [StoredName: Set<PersistentValue>] = [:]
    for (target, keys) in notes.newest { absent[target] = try absentKeys(keys, target) }
    notes.keep(absent)
  }

  /// The keys of a model that no record has.
  private func absentKeys(_ keys: Set<PersistentValue>, _ target: StoredName) throws -> Set<PersistentValue> {
    guard let schema = try wrapped.schema(named: target.text), schema.key.count == 1 else { return keys }
    let field = schema.fields[schema.keyPositions[0]]
    guard keys.allSatisfy(field.accepts) else {
      // A rename has left the name to another model, whose key is of another kind.
      let possible = keys.filter(field.accepts)
      return try absentKeys(possible, target).union(keys.subtracting(possible))
    }
    var absent = keys
    if keys.count <= 4 {
      for key in keys where try wrapped.find(RecordKey([key]), in: schema, { _ in }) { absent.remove(key) }
      return absent
    }
    for chunk in keys.sorted().chunks(of: Self.chunk) {
      for key in try wrapped.keys(among: chunk, of: schema) { absent.remove(key) }
    }
    return absent
  }

  /// Throws if a record refers to one of some absent records.
  private func requireNoReferrers(to keys: [PersistentValue], _ target: StoredName) throws {
    for reference in try map.references(to: target) {
      guard let schema = try wrapped.schema(named: reference.model),
        let field = schema.field(named: reference.field)
      else { continue }
      let keys = keys.filter(field.accepts)
      let request = try FetchRequest(schema, where: .isIn(field: reference.field, keys), limit: 1)
      _ = try wrapped.fetch(request).read(from: 0, limit: 1) { row in
        throw try brokenReference(reference, row, schema)
      }
    }
  }

  /// Applies a delete rule to the records that refer to absent ones, as if these were deleted now; returns whether there
  /// were any.
  func settleOrphans(of reference: StoredReference, _ rule: DeleteRule) throws -> Bool {
    guard let schema = try wrapped.schema(named: reference.model) else { return false }
    let rule = reference.effect(of: rule, in: schema)
    guard rule != .restrict else { return false }
    var absent: Set<PersistentValue> = []
    try wrapped.forEachDangling(of: reference) { _, target in
      absent.insert(target)
      return true
    }
    for chunk in absent.sorted().chunks(of: Self.chunk) {
      let orphans = try FetchRequest(schema, where: .isIn(field: reference.field, chunk))
      if rule == .cascade {
        _ = try delete(orphans)
      } else {
        _ = try update(UpdateRequest(orphans, set: [FieldAssignment(reference.field, .null)]))
      }
    }
    return !absent.isEmpty
  }

  private func brokenReference(_ reference: StoredReference, _ row: borrowing Row, _ schema: ModelSchema)
    throws -> PersistenceError
  {
    let position = try schema.requiredPosition(of: reference.field)
    return .brokenReference(
      reference, of: try RecordKey(of: row, in: schema), to: try row.value(at: position), location: location)
  }
}

extension StorageReader {
  /// Those of some keys that a record of a model has.
  func keys(among keys: [PersistentValue], of schema: ModelSchema) throws -> [PersistentValue] {
    var found: [PersistentValue] = []
    let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], keys))
    _ = try fetch(request, selecting: schema.keyPositions).read(from: 0, limit: Int.max) {
      found.append(try $0.value(at: 0))
    }
    return found
  }

  /// Throws if a record of a model refers to an absent one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` and the record.
  /// - Complexity: One look-up for each record that refers to another one.
  package func requireTargets(of reference: StoredReference, location: String) throws {
    try requireTargets(of: reference, begunBy: nil, location: location)
  }

  /// The error of an opening that begins a reference, or gives it another target; nil if all records have theirs.
  package func error(
    ofBeginning reference: StoredReference, formerTarget: String?, location: String
  ) throws -> PersistenceError? {
    try firstDangling(of: reference).map { dangling in
      let new = NewReference(reference: reference, formerTarget: formerTarget, hadRecords: true)
      return .brokenReference(
        reference, of: dangling.record, to: dangling.target, begunBy: new, location: location)
    }
  }

  fileprivate func requireTargets(
    of reference: StoredReference, begunBy new: NewReference?, location: String
  ) throws {
    if let dangling = try firstDangling(of: reference) {
      throw PersistenceError.brokenReference(
        reference, of: dangling.record, to: dangling.target, begunBy: new, location: location)
    }
  }

  /// A record that refers to an absent one, with the absent key; nil if there is none.
  ///
  /// - Complexity: One look-up for each record that refers to another one.
  package func firstDangling(of reference: StoredReference) throws -> (
    record: RecordKey, target: PersistentValue
  )? {
    var found: (record: RecordKey, target: PersistentValue)?
    try forEachDangling(of: reference) { record, target in
      found = (record, target)
      return false
    }
    return found
  }

  /// Calls a closure with each record that refers to an absent one, until it returns false.
  ///
  /// The closure does not write.
  package func forEachDangling(
    of reference: StoredReference, _ body: (_ record: RecordKey, _ target: PersistentValue) throws -> Bool
  ) throws {
    guard let schema = try schema(named: reference.model), let position = schema.position(of: reference.field)
    else { return }
    let target = try self.schema(named: reference.target)
    let request = try FetchRequest(
      schema, where: .comparison(field: reference.field, .notEqual, .null),
      order: [FieldOrder(reference.field)])
    let results = try fetch(request, selecting: [position] + schema.keyPositions)
    var (offset, count) = (0, 0)
    repeat {
      var rows: [(record: RecordKey, target: PersistentValue)] = []
      count = try results.read(from: offset, limit: KeepingTransaction.chunk) { row in
        var key: [PersistentValue] = []
        for place in schema.keyPositions.indices { key.append(try row.value(at: place + 1)) }
        rows.append((RecordKey(key), try row.value(at: 0)))
      }
      offset += count
      var present: Set<PersistentValue> = []
      if let target, target.key.count == 1 {
        // A key of another kind is of no record.
        let possible = rows.map(\.target).filter(target.fields[target.keyPositions[0]].accepts)
        if !possible.isEmpty { present = Set(try keys(among: possible, of: target)) }
      }
      for row in rows where !present.contains(row.target) {
        guard try body(row.record, row.target) else { return }
      }
    } while count == KeepingTransaction.chunk
  }
}

extension PersistenceError {
  /// A record that refers to an absent one, with what to do: about the declaration, if it is that which began a reference
  /// of existing records.
  static func brokenReference(
    _ reference: StoredReference, of record: RecordKey, to target: PersistentValue,
    begunBy new: NewReference? = nil, location: String
  ) -> PersistenceError {
    let rule = ".orphans(\\\(reference.model).\(reference.field), …)"
    let advice: String
    if let former = new?.formerTarget {
      advice =
        "the store's records refer to \(former): if \(reference.target) is \(former) under another name, write "
        + "@Persistent(\"\(reference.target)\", was: \"\(former)\"); if not, make the records in a .step, or add "
        + "\(rule) to the StoreSchema"
    } else if new?.hadRecords == true {
      advice =
        "the field is a reference now: add \(rule) to the StoreSchema with .setNil or .cascade for such records, or save "
        + "the \(reference.target) before"
    } else {
      advice =
        "save the \(reference.target), or change or delete the \(reference.model), in the same transaction"
    }
    return PersistenceError(
      .brokenReference,
      "“\(reference.field)” of \(reference.model) \(record) refers to \(reference.target) \(target), which does not exist; "
        + advice, model: reference.model, field: reference.field, key: record, location: location)
  }
}

extension Array {
  /// The elements in order, in parts of a size.
  func chunks(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
