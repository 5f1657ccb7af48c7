import PersistenceDriver
package import PersistenceDriverSupport
import PersistencePrimitives

/// The change of a store into one that a schema's declarations fit (contract S5: all of it, or nothing).
struct StoreEvolution {
  private let context: any StorageContext
  let declarations: [ModelDeclaration]
  let removedModels: [(name: String, formerNames: [String])]
  private let steps: [EvolutionRule.Step]

  /// - Throws: ``PersistenceError`` with code `invalidSchema` if a declaration or a rule is invalid.
  init(_ context: any StorageContext, _ schema: any StoreSchema.Type) throws {
    self.context = context
    var declarations = try schema.models.map { try $0.declaration }
    var (removed, steps): ([(String, [String])], [EvolutionRule.Step]) = ([], [])
    for rule in schema.evolution {
      switch rule.effect {
      case .step(let step):
        guard !step.making.isEmpty else {
          throw PersistenceError(
            .invalidSchema,
            "a step of \(schema) makes no model, so it would run at each opening; name a model")
        }
        steps.append(step)
      case .removedModel(let name, let formerNames): removed.append((name, formerNames))
      case .declaration(let model, let change):
        guard let index = declarations.firstIndex(where: { StoredName($0.schema.name) == StoredName(model) })
        else {
          throw PersistenceError(
            .invalidSchema,
            "a rule of \(schema) names the model \(model), which it does not list; list it in models, or, if the app has "
              + "removed it, replace its rules by .remove(model: \"\(model)\")", model: model)
        }
        try change(&declarations[index])
      }
    }
    for declaration in declarations { try declaration.checkRemovedFields() }
    try declarations.requireDistinctNames()
    for (name, _) in removed {
      for declaration in declarations {
        for reference in declaration.references
        where try StoredName(reference.target().schema.name) == StoredName(name) {
          throw PersistenceError.invalidSchema(
            declaration.schema.name, "“\(reference.field)” refers to \(name), which a rule removes")
        }
      }
    }
    self.declarations = declarations
    removedModels = removed.map { (name: $0.0, formerNames: $0.1) }
    self.steps = steps
  }

  /// Changes the store if it must.
  ///
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` and all differences that need a word, `newerStore`, the
  ///   error of a closure, and any error of writing. The store is unchanged then.
  func run(_ progress: (StoreProgress) throws -> Void = { _ in }) throws {
    try context.requireComplete()
    guard try isNeeded(context.snapshot()), !context.capabilities.isReadOnly else { return }
    try TransactionScope.enter(context) {
      let declares = declarations.contains { !$0.references.isEmpty }
      try context.keepingTransaction(.exclusive, declares: declares) {
        try evolve($0, progress)
      }
    }
    try context.noteUnbuiltIndexes()
  }

  /// Whether the store must change.
  ///
  /// - Throws: `schemaMismatch` and all differences, unless a step may settle them.
  private func isNeeded(_ reader: any StorageReader) throws -> Bool {
    var isNeeded = try steps.contains { try self.isNeeded($0, reader) }
    if !isNeeded { try requireWords(reader) }
    for declaration in declarations where !isNeeded {
      let fit = try SchemaFits.fit(declaration, reader, location: context.location).fit
      switch fit {
      case .same, .mapped:
        if case .mapped(let mapping) = fit { context.noteAbsentIndexes(mapping) }
        isNeeded = try fit.isCurrent && declaration.changesReferences(reader, replacesRules: fit.isNewest)
      case .refused: break
      case .absent, .evolves: isNeeded = true
      }
    }
    for model in removedModels
    where try SchemaFits.isRemovalNeeded(model.name, formerNames: model.formerNames, reader) {
      isNeeded = true
    }
    return isNeeded
  }

  /// Throws all differences that need a word.
  private func requireWords(_ reader: any StorageReader) throws {
    var first: (schema: ModelSchema, history: ModelHistory?)?
    var differences: [SchemaDifference] = []
    for declaration in declarations {
      let (fit, history) = try SchemaFits.fit(declaration, reader, location: context.location)
      guard case .refused(let found) = fit else { continue }
      first = first ?? (declaration.schema, history)
      differences += found
    }
    guard let first else { return }
    throw PersistenceError.schemaMismatch(
      differences, first.schema, first.history, location: context.location)
  }

  private func evolve(_ transaction: any StorageTransaction, _ progress: (StoreProgress) throws -> Void)
    throws
  {
    // Another program may have evolved the store in the meantime.
    guard try isNeeded(transaction) else { return }
    let fits = SchemaFits(location: context.location)
    for step in steps where try isNeeded(step, transaction) {
      try run(step, fits, in: transaction, progress)
    }
    try requireWords(transaction)
    let arePrepared = try declarations.map { declaration in
      fits.declare(declaration)
      return try fits.prepare(declaration.schema, in: transaction, progress)
    }
    for (declaration, isPrepared) in zip(declarations, arePrepared) {
      try fits.evolve(
        declaration.schema, limit: .rewrite, in: transaction, isPrepared ? { _ in } : progress)
    }
    try transaction.settleReferences(declarations, location: context.location)
    for model in removedModels
    where try SchemaFits.isRemovalNeeded(model.name, formerNames: model.formerNames, transaction) {
      try SchemaFits.remove(model.name, formerNames: model.formerNames, in: transaction)
    }
  }

  /// Whether the store contains none of the models that a step makes, under any name that they have or had.
  private func isNeeded(_ step: EvolutionRule.Step, _ reader: any StorageReader) throws -> Bool {
    try step.making.allSatisfy { model in
      let fit = try SchemaFits.fit(declaration(of: model), reader, location: context.location).fit
      guard case .absent = fit else { return false }
      return true
    }
  }

  /// The declaration of a model that a step makes, with the rules of the schema if it lists the model.
  private func declaration(of model: any PersistentRecord.Type) throws -> ModelDeclaration {
    let declaration = try model.declaration
    return declarations.first { [$0.schema.name].containsName(declaration.schema.name) } ?? declaration
  }

  private func run(
    _ step: EvolutionRule.Step, _ fits: SchemaFits, in transaction: any StorageTransaction,
    _ progress: (StoreProgress) throws -> Void
  ) throws {
    for model in step.making {
      let declaration = try declaration(of: model)
      fits.declare(declaration)
      try fits.evolve(declaration.schema, limit: .rewrite, in: transaction)
    }
    let name = try step.making.first?.declaration.schema.name ?? ""
    func report(_ done: Int) throws {
      try Task.checkCancellation()
      try progress(StoreProgress(phase: .stepping, model: name, done: done, total: 0))
    }
    // The references of a step's models are declared, and checked, when all steps have run.
    try TransactionContext.run(StepTransaction(transaction), of: context, keepsReferences: false) { inside in
      try StoreProgress.following(report) { try step.run(Repository(inside), Repository(inside)) }
    }
  }
}

/// The transaction of a step, which reports the number of written records.
private final class StepTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private var count = 0

  init(_ wrapped: any StorageTransaction) { self.wrapped = wrapped }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
    try report()
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
    try report()
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.save(row, in: schema)
    try report()
  }

  private func report() throws {
    count += 1
    try StoreProgress.report(count)
  }
}

extension PersistentRecord {
  /// The model's declaration, also of an existential type.
  package static var declaration: ModelDeclaration { get throws { try schema.declaration } }
}
