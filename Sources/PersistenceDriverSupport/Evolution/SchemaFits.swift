package import PersistenceDriver
import PersistencePrimitives
import Synchronization

/// The declarations that use one store through a mapping, because the store's schema differs from theirs.
///
/// A driver verifies the stored schema of each mapped request as it verifies any other, so a mapping that another
/// process has made obsolete ends in `schemaMismatch`, and is made anew.
package final class SchemaFits: Sendable {
  private struct State {
    var declarations: [ObjectIdentifier: ModelDeclaration] = [:]
    /// By the identity of the declared schema, which each entry retains, so that no other schema gets its identity.
    var mappings: [ObjectIdentifier: (declared: ModelSchema, mapping: SchemaMapping?)] = [:]
  }

  private static let mappingLimit = 512

  private let state = Mutex(State())
  private let location: String

  package init(location: String) { self.location = location }

  /// Adds a declaration, whose schema requests will have.
  package func declare(_ declaration: ModelDeclaration) {
    state.withLock { $0.declarations[declaration.schema.identity] = declaration }
  }

  /// Whether the declaration of a schema was added.
  package func knows(_ schema: ModelSchema) -> Bool {
    state.withLock { $0.declarations[schema.identity] != nil }
  }

  /// The declaration of a schema; the bare schema if none was added.
  func declaration(of schema: ModelSchema) -> ModelDeclaration {
    state.withLock { $0.declarations[schema.identity] } ?? ModelDeclaration(schema)
  }

  /// Calls a closure with the mapping of a schema, or nil if requests need none.
  func withMapping<Result>(
    of schema: ModelSchema, _ reader: any StorageReader, _ body: (SchemaMapping?) throws -> Result
  ) throws -> Result {
    let found = try usingKnownMapping(of: schema) { mapping -> Result? in
      // A request for a model that another program has renamed would find nothing.
      guard try reader.schema(named: (mapping?.stored ?? schema).name) != nil else { return nil }
      do {
        return try body(mapping)
      } catch let error as PersistenceError where error.code == .invalidRequest {
        // An obsolete mapping refuses a request before a driver verifies the schema.
        guard let mapping, let found = try reader.schema(named: mapping.stored.name) else { throw error }
        try mapping.stored.requireCompatible(with: found, location: location)
        throw error
      }
    }
    if let found = found.flatMap(\.self) { return found }
    let (mapping, isAbsent) = try mapping(of: schema, reader)
    // A model that is absent may appear at any time, also under an earlier name. One that has its earlier name may appear
    // beside it under its own, which another program defines that does not know the earlier one.
    if isAbsent || mapping.map({ StoredName($0.stored.name) != StoredName(schema.name) }) == true {
      return try body(mapping)
    }
    state.withLock { state in
      if state.mappings.count >= Self.mappingLimit { state.mappings.removeAll() }
      state.mappings[schema.identity] = (schema, mapping)
    }
    return try body(mapping)
  }

  /// Whether the mapping of a schema that earlier requests used changes rows.
  func isKnownToChange(rowsOf schema: ModelSchema) -> Bool {
    state.withLock { $0.mappings[schema.identity]?.mapping?.keepsRows == false }
  }

  /// Calls a closure with the mapping of a schema that earlier requests used; returns nil if there is none, or the store has
  /// changed since.
  func usingKnownMapping<Result>(of schema: ModelSchema, _ body: (SchemaMapping?) throws -> Result) throws
    -> Result?
  {
    guard let known = state.withLock({ $0.mappings[schema.identity] }) else { return nil }
    do {
      return try body(known.mapping)
    } catch let error as PersistenceError where error.code == .schemaMismatch && error.differences.isEmpty {
      forget(schema)
      return nil
    }
  }

  /// Forgets the mapping of a schema, after a change of the store.
  func forget(_ schema: ModelSchema) { state.withLock { $0.mappings[schema.identity] = nil } }

  private func mapping(of schema: ModelSchema, _ reader: any StorageReader) throws
    -> (mapping: SchemaMapping?, isAbsent: Bool)
  {
    let declaration = declaration(of: schema)
    // One state for the ledger and the schema, which another process may change.
    let reader = try (reader as? any StorageContext)?.snapshot() ?? reader
    let (fit, history) = try Self.fit(declaration, reader, location: location)
    switch fit {
    case .absent: return (nil, true)
    case .same: return (nil, false)
    case .mapped(let mapping): return (mapping, false)
    case .evolves(let plan):
      guard let reading = plan.reading else {
        throw PersistenceError.schemaMismatch(
          [SchemaDifference(schema, nil, .cost(.rewrite))], schema, history, location: location)
      }
      return (reading, false)
    case .refused(let differences):
      throw PersistenceError.schemaMismatch(differences, schema, history, location: location)
    }
  }

  /// What a declaration needs in order to use a store.
  ///
  /// - Returns: The need, and what the store remembers of the model.
  package static func fit(
    _ declaration: ModelDeclaration, _ reader: any StorageReader, location: String
  ) throws -> (fit: SchemaFit, history: ModelHistory?) {
    let (stored, history) = try stored(declaration, reader)
    if let stored {
      return (try SchemaComparison.fit(declaration, stored: stored, history: history), history)
    }
    guard !declaration.isRestored, let history, ModelHistory.isRemoved(history.model) else {
      return (.absent, history)
    }
    return (.refused([SchemaDifference(declaration.schema, nil, .removed)]), history)
  }

  /// The name under which the store contains a declared model; nil if it does not, or hides it.
  static func storedName(of declaration: ModelDeclaration, _ reader: any StorageReader) throws -> String? {
    try stored(declaration, reader).schema?.name
  }

  /// The stored schema of a declared model, under its name or another one, and what the store remembers of the model.
  private static func stored(_ declaration: ModelDeclaration, _ reader: any StorageReader) throws
    -> (schema: ModelSchema?, history: ModelHistory?)
  {
    let name = declaration.schema.name
    let histories = try SchemaLedger.histories(reader)
    func history(_ model: String) -> ModelHistory? {
      histories.first { StoredName($0.model) == StoredName(model) }
    }
    if let stored = try reader.schema(named: name), !stored.isPlaceholder { return (stored, history(name)) }
    let renamed =
      histories.first { $0.formerNames.containsName(name) }
      ?? histories.first { history in
        declaration.isRestored && ModelHistory.isRemoved(history.model)
          && declaration.formerNames.contains(where: history.formerNames.containsName)
      }
    if let renamed, ModelHistory.isRemoved(renamed.model) {
      return (declaration.isRestored ? try reader.schema(named: renamed.model) : nil, renamed)
    }
    for other in declaration.formerNames + [renamed?.model].compactMap(\.self) {
      guard let stored = try reader.schema(named: other), !stored.isPlaceholder else { continue }
      return (stored, history(other))
    }
    return (nil, renamed)
  }

  /// Does the long part of a change that a declaration needs, before a transaction writes anything.
  ///
  /// - Parameters:
  ///   - schema: The declared schema.
  ///   - transaction: The transaction, to which ``evolve(_:limit:in:_:)`` makes the change later.
  ///   - progress: Receives the progress. If it throws, the preparation ends with the error.
  /// - Returns: Whether the long part is done; otherwise ``evolve(_:limit:in:_:)`` does it.
  /// - Throws: The error of a computation, of `progress`, or of the store.
  package func prepare(
    _ schema: ModelSchema, in transaction: any StorageTransaction, _ progress: (StoreProgress) throws -> Void
  ) throws -> Bool {
    guard let preparing = transaction.preparing,
      case .evolves(let plan) = try Self.fit(declaration(of: schema), transaction, location: location).fit,
      try transaction.costUnderAnyName(of: plan.change) == .rewrite
    else { return false }
    let change = plan.change
    var isPrepared = false
    try LongWork(.rewriting, change.target.name, of: change.stored, in: transaction).whole(progress) {
      isPrepared = try preparing.prepare(change)
    }
    return isPrepared
  }

  /// Makes the store contain what a declaration needs, inside a transaction.
  ///
  /// - Parameters:
  ///   - schema: The declared schema.
  ///   - limit: The greatest cost of a change; a more expensive one throws.
  ///   - transaction: The transaction.
  ///   - progress: Receives the progress of a change that reads records. If it throws, the change ends with the error.
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` and the differences, or `newerStore`.
  package func evolve(
    _ schema: ModelSchema, limit: EvolutionCost, in transaction: any StorageTransaction,
    _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let declaration = declaration(of: schema)
    let (fit, history) = try Self.fit(declaration, transaction, location: location)
    switch fit {
    case .mapped: break
    case .same: try transaction.define(schema)  // has no effect, or throws what it throws without a mapping
    case .absent:
      if declaration.isRestored, let history, ModelHistory.isRemoved(history.model) {
        // The records were erased, or a version without the model made the store.
        try transaction.dropPlaceholder(of: schema.name)
        try SchemaLedger.write(
          ModelHistory(new: declaration) ?? ModelHistory(model: schema.name), replacing: history.model,
          in: transaction)
      }
      try transaction.define(schema)
      if let history = ModelHistory(new: declaration) {
        try SchemaLedger.write(history, replacing: schema.name, in: transaction)
      }
    case .refused(let differences):
      throw PersistenceError.schemaMismatch(differences, schema, history, location: location)
    case .evolves(let plan):
      var change = plan.change
      // Only an opening with a schema and a server defer indexes: they know of finishIndexes().
      change.defersIndexes = try limit >= .indexes && transaction.isLarge(change.stored)
      let cost = try transaction.costUnderAnyName(of: change)
      guard cost <= limit, !plan.isDeclared || limit == .rewrite else {
        let needed = plan.isDeclared ? .rewrite : cost
        throw PersistenceError.schemaMismatch(
          [SchemaDifference(schema, nil, .cost(needed))], schema, history, location: location)
      }
      if declaration.isRestored { try transaction.dropPlaceholder(of: change.target.name) }
      if !change.changesNothing {
        try UniqueFill.explaining(change) { try transaction.evolve(change, cost: cost, progress) }
      }
      try SchemaLedger.write(plan.history, replacing: change.stored.name, in: transaction)
      forget(schema)
    }
  }
}

extension StorageReader {
  /// The cost of a change, also of one that gives a restored model a name that the store keeps from other models.
  package func costUnderAnyName(of change: SchemaChange) throws -> EvolutionCost {
    let (stored, target) = (change.stored, change.target)
    guard StoredName(stored.name) != StoredName(target.name),
      try schema(named: target.name)?.isPlaceholder == true
    else { return try cost(of: change) }
    let unnamed = try ModelSchema(
      name: stored.name, fields: target.fields, key: target.key, indexes: target.indexes)
    return try cost(
      of: SchemaChange(
        from: stored, to: unnamed, sources: change.sources, computeSources: change.computeSources,
        compute: change.compute))
  }
}

extension StorageTransaction {
  /// Drops what keeps the name of a model that the store has under another name.
  fileprivate func dropPlaceholder(of name: String) throws {
    if let other = try schema(named: name), other.isPlaceholder { try drop(other) }
  }
}

extension SchemaChange {
  /// Whether only the store's memory of the model changes.
  package var changesNothing: Bool {
    stored == target && sources == stored.fields.indices.map { .field($0) }
  }
}

extension PersistenceError {
  /// A declaration that does not match the store; `newerStore` if the store has met the declaration before.
  package static func schemaMismatch(
    _ differences: [SchemaDifference], _ schema: ModelSchema, _ history: ModelHistory?, location: String
  ) -> PersistenceError {
    // A declaration may differ from several models.
    func text(_ difference: SchemaDifference, _ text: String) -> String {
      difference.model == schema.name ? text : "\(difference.model).\(text)"
    }
    let isKnown = history?.declarations.contains(schema.fingerprint) ?? false
    var error =
      isKnown
      ? PersistenceError(
        .newerStore,
        "a newer version of the app has changed \(schema.name) in the store; install that version: "
          + differences.map { text($0, $0.fact) }.joined(separator: "; "), model: schema.name,
        location: location)
      : PersistenceError(
        .schemaMismatch,
        "the declaration of \(schema.name) does not fit the store: "
          + differences.map { text($0, $0.description) }.joined(separator: "; "), model: schema.name,
        location: location)
    error.differences = differences
    return error
  }
}
