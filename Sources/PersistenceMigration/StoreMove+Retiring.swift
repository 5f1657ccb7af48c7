import PersistenceDriver

// What happens to the old store when the new one is complete.

extension StoreMove {
  /// How the records of an old store differ from those that were moved.
  enum Difference {
    /// Some are missing, as when a retirement was interrupted; the new store has the others.
    case missing(String)
    /// There are others.
    case changed(String)

    var text: String {
      switch self {
      case .missing(let text), .changed(let text): text
      }
    }
  }

  /// Whether an error of opening the old store may come from a retirement that was interrupted.
  static func mayBeHalfRetired(_ error: PersistenceError) -> Bool {
    [.damaged, .notAStore, .missingStore].contains(error.code)
  }

  /// Retires the old store, unless it differs from the one that was moved.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/sourceChanged``; then nothing was retired.
  func retire(
    _ source: any StorageContext, _ destination: any StorageContext, _ retire: () throws -> Void,
    _ progress: (StoreProgress) throws -> Void
  ) throws {
    guard let receipt = try MoveReceipt.find(in: destination) else {
      try source.close()
      throw PersistenceError.notMoved(source.location, destination.location)
    }
    let difference: Difference?
    do {
      difference = try self.difference(of: source, from: receipt, destination, progress)
    } catch let error as PersistenceError
      where receipt.state == .retiring && Self.mayBeHalfRetired(error)
      && error.location != destination.location
    {
      difference = .missing(error.message)
    } catch {
      try? source.close()
      throw error
    }
    try source.close()
    if let difference {
      // Another process may have retired the store while this one was reading it.
      let state = try MoveReceipt.find(in: destination)?.state
      if state == .retired, receipt.state != .retired { return }
      guard state == .retiring, case .missing = difference else {
        throw PersistenceError.oldStoreChanged(difference.text, source.location, destination.location)
      }
    }
    try finishRetiring(destination, retire)
  }

  /// Retires what is left of the old store.
  func finishRetiring(_ destination: any StorageContext, _ retire: () throws -> Void) throws {
    try set(.retiring, in: destination)
    do {
      try retire()
    } catch {
      // If nothing was removed yet, records that are missing later are ones that an older app has deleted.
      if (try? isWhole(destination)) == true { try? set(.moved, in: destination) }
      throw error
    }
    try set(.retired, in: destination)
  }

  /// Whether the old store still holds what was moved.
  private func isWhole(_ destination: any StorageContext) throws -> Bool {
    guard let receipt = try MoveReceipt.find(in: destination), let source = try old() else { return false }
    defer { try? source.close() }
    return try difference(of: source, from: receipt, destination) { _ in } == nil
  }

  private func set(_ state: MoveReceipt.State, in destination: any StorageContext) throws {
    guard var receipt = try MoveReceipt.find(in: destination), receipt.state != state else { return }
    receipt.state = state
    try destination.transaction { try receipt.save(in: $0) }
  }

  /// How a store differs from the one that was moved; nil if it does not.
  private func difference(
    of source: any StorageContext, from receipt: MoveReceipt, _ destination: any StorageContext,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> Difference? {
    let snapshot = try source.snapshot()
    let migration = Migration(from: source, to: destination, options: options(.new))
    var mappers: [StoredName: RecordMapper] = [:]
    for mapper in try migration.mappers(in: snapshot) { mappers[StoredName(mapper.source.name)] = mapper }
    var missing: Difference?
    for (schema, entry) in zip(receipt.head.schemas, receipt.entries) {
      let name = schema.name
      guard let mapper = mappers.removeValue(forKey: StoredName(name)) else {
        missing = .missing("it lacks the model \(name)")
        continue
      }
      if let difference = mapper.source.differences(from: schema).first {
        return .changed("its model \(name) is another one: \(difference)")
      }
      let (count, moved) = (try snapshot.count(FetchRequest(mapper.source)), entry.counts.read)
      if count > moved { return .changed("it has \(count) records of \(name), and \(moved) were moved") }
      if count < moved {
        guard try hasRecords(destination, of: mapper.source, snapshot, progress) else {
          return .changed(
            "its model \(name) holds records that the new store lacks, or has with other values")
        }
        missing = .missing("it has \(count) records of \(name), and \(moved) were moved")
        continue
      }
      guard let digest = entry.read else { continue }
      let prefix = try SourcePrefix.read(mapper, snapshot, migration.options, limit: nil) { done in
        try progress(StoreProgress(phase: .verifying, model: name, done: done, total: count))
      }
      if prefix.digest != digest { return .changed("records of its model \(name) have other values") }
    }
    // An empty model holds nothing that could be lost.
    for (_, mapper) in mappers where try snapshot.count(FetchRequest(mapper.source)) > 0 {
      return .changed("its model \(mapper.source.name) was not moved")
    }
    return missing
  }

  /// Whether the new store holds every record of a model of the old one, with equal values.
  private func hasRecords(
    _ destination: any StorageContext, of schema: ModelSchema, _ source: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> Bool {
    let copy = try destination.snapshot()
    guard let copied = try copy.schema(named: schema.name) else { return false }
    return try ModelComparison(
      leftSchema: schema, leftReader: source, rightSchema: copied, rightReader: copy, differenceLimit: 0
    ).run(progress).isContained
  }
}

extension PersistenceError {
  /// The error for an old store that is another one than was moved.
  fileprivate static func oldStoreChanged(_ reason: String, _ old: String, _ new: String) -> PersistenceError
  {
    PersistenceError(
      .sourceChanged,
      "the old store at \(old) has changed since it was moved: \(reason); it was not retired, because it may hold records "
        + "that the new store lacks; copy what is missing, for example with persistence migrate, and then remove it",
      location: new)
  }

  /// The error for two stores of which neither was moved to the other.
  static func notMoved(_ old: String, _ new: String) -> PersistenceError {
    PersistenceError(
      .destinationNotEmpty,
      "the new store holds records that were not moved from the old store at \(old), which exists too; nothing was moved "
        + "or retired; copy what is missing, for example with persistence migrate, and then remove the old store",
      location: new)
  }
}
