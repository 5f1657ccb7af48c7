import PersistenceDriver

/// A transaction on an ordered byte store: records, index entries, counts and catalog change together.
///
/// A call rejects invalid input before it writes, so a rejected call has no effect (contract W4). After the
/// store itself fails during a call, for example because it is full, the transaction can only be rolled back:
/// every further call, and ``finish()``, throws the store's error.
package final class KeyValueTransaction: StorageTransaction {
  let store: KeyValueStore
  let writer: any ByteWriter
  let source: TransactionSource
  /// The key of the record that is being written; a transaction writes one at a time.
  let writtenKey = ByteBuffer()
  @exclusivity(unchecked) private var isOpen = true
  @exclusivity(unchecked) private var failure: (any Error)?

  /// The uncommitted changes of the catalog and the counts; a nested transaction restores them on rollback.
  struct Changes {
    var models: [StoredName: StoredModel] = [:]
    /// The models that were dropped; some may have been defined again.
    var dropped: Set<StoredName> = []
    /// The increase of the catalog's generation.
    var generations: UInt64 = 0
    var counts = RecordCounts()
    /// The copies that prepared changes made, by the name of the model.
    var copies: [StoredName: RecordsCopy] = [:]
  }

  var changes = Changes()
  /// The number of writes after the last one of a prepared change, if there was none before it.
  @exclusivity(unchecked) var preparedWrites: UInt64 = 0
  /// The generation of the catalog after the commit.
  private var generation: UInt64 = 0

  /// The change of the record count of the model that was written last.
  private struct Tally {
    let binding: ModelBinding
    var difference: Int
  }

  @exclusivity(unchecked) private var tally: Tally?
  private var bindings: [ObjectIdentifier: ModelBinding] = [:]
  @exclusivity(unchecked) private var lastBinding: ModelBinding?
  @exclusivity(unchecked) private var firstEntries: NewEntries?

  package init(_ store: KeyValueStore, _ writer: any ByteWriter) {
    self.store = store
    self.writer = writer
    source = TransactionSource(writer)
  }

  /// Writes the deferred changes; throws if the store failed before, even if the caller ignored it.
  package func finish() throws {
    if let failure { throw failure }
    try attempt {
      try flushTally()
      if preparedWrites > 0 { try Catalog.removeUnfinishedCopies(writer) }
      for (model, count) in changes.counts.changed { try Catalog.setCount(count, of: model, writer) }
      guard changes.generations > 0 || !changes.models.isEmpty else { return }
      generation = try Catalog.generation(writer) + changes.generations
      if changes.generations > 0 { try Catalog.setGeneration(generation, writer) }
    }
  }

  /// Ends the transaction, after which its calls throw; after a commit, publishes its models to the catalog
  /// cache.
  ///
  /// - Parameter version: The newest version of the store, read before another writer could commit; nil if
  ///   the transaction was not committed. A store may reuse the version of a transaction without changes.
  package func end(committedAs version: Int?) {
    isOpen = false
    source.end()
    guard let version else { return }
    if changes.generations == 0, version > writer.version {
      store.cache.recordSuccessor(of: writer.version, writes: source.generation)
    }
    guard !changes.models.isEmpty else { return }
    store.cache.insert(Array(changes.models.values), of: generation)
  }
}

extension KeyValueTransaction {
  /// The index entries of the record that is being written; most transactions write no index.
  var newEntries: NewEntries {
    if let firstEntries { return firstEntries }
    let made = NewEntries()
    firstEntries = made
    return made
  }

  func requireOpen() throws {
    guard isOpen else { throw PersistenceError.closed("the transaction") }
    if let failure { throw failure }
  }

  /// Runs writes; if one fails, the transaction fails.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    source.invalidateResults()
    do {
      return try body()
    } catch {
      throw failed(error)
    }
  }

  /// Records the failure of a write; every further call throws it.
  func failed(_ error: any Error) -> any Error {
    let located = (error as? PersistenceError)?.at(location: store.location) ?? error
    failure = located
    return located
  }

  /// The binding of a declared schema; nil if neither the store nor the transaction contains the model.
  func binding(_ schema: ModelSchema) throws -> ModelBinding? {
    if let last = lastBinding, last.identity == schema.identity { return last }
    let found: ModelBinding?
    if let known = bindings[schema.identity] {
      found = known
    } else if let model = changes.models[StoredName(schema.name)] {
      try schema.requireCompatible(with: model.schema, location: store.location)
      found = ModelBinding(model, declared: schema)
      bindings[schema.identity] = found
    } else if changes.dropped.contains(StoredName(schema.name)) {
      found = nil
    } else {
      found = try store.binding(schema, writer)
    }
    lastBinding = found
    return found
  }

  /// Discards the bindings, which no longer agree with the catalog.
  func forgetBindings() {
    bindings.removeAll()
    lastBinding = nil
  }

  /// The binding of a model to write to.
  func writableBinding(_ schema: ModelSchema) throws -> ModelBinding {
    guard let binding = try changingBinding(schema) else {
      throw PersistenceError(
        .invalidRequest, "the model \(schema.name) is not defined; define it before writing to it",
        model: schema.name, location: store.location)
    }
    return binding
  }

  /// The number of records of a model.
  func count(of binding: ModelBinding) throws -> Int {
    try flushTally()
    return try flushedCount(of: binding)
  }

  private func flushedCount(of binding: ModelBinding) throws -> Int {
    if let known = changes.counts.count(of: binding.model.number) { return known }
    let stored = try store.located { try Catalog.count(of: binding.model, writer) }
    changes.counts.read(stored, of: binding.model.number)
    return stored
  }

  /// Adds to the number of records of a model.
  func count(_ difference: Int, in binding: ModelBinding) throws {
    if tally?.binding === binding {
      tally?.difference += difference
    } else {
      try flushTally()
      tally = Tally(binding: binding, difference: difference)
    }
  }

  func flushTally() throws {
    guard let tally else { return }
    self.tally = nil
    let count = try flushedCount(of: tally.binding) + tally.difference
    changes.counts.change(to: count, of: tally.binding.model.number)
  }

  /// Writes the changed counts to the store, where reads find them.
  func flushCounts() throws {
    try flushTally()
    guard changes.counts.hasChanges else { return }
    try attempt {
      for (model, count) in changes.counts.changed { try Catalog.setCount(count, of: model, writer) }
    }
    changes.counts.changesWereWritten()
  }
}

extension KeyValueTransaction {
  package func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    try flushTally()
    let before = changes
    source.invalidateResults()
    var bodyError: (any Error)?
    do {
      try writer.nested {
        do {
          try body()
          try requireOpen()
        } catch {
          bodyError = error
          throw error
        }
      }
    } catch {
      source.invalidateResults()
      changes = before
      tally = nil
      forgetBindings()
      // The rollback of the nested transaction also undoes its failure.
      failure = bodyError == nil ? error : nil
      throw error
    }
    source.invalidateResults()
  }
}
