package import PersistenceDriver
import PersistencePrimitives

/// A reference as code declares it, whose target has its own declaration.
package struct DeclaredReference: Sendable {
  /// The stored name of the field.
  package let field: String
  /// The rule of the declaration.
  package let rule: DeleteRule
  /// The declaration of the target; read late, since models may refer to each other.
  package let target: @Sendable () throws -> ModelDeclaration

  package init(
    field: String, rule: DeleteRule, target: @escaping @Sendable () throws -> ModelDeclaration
  ) {
    self.field = field
    self.rule = rule
    self.target = target
  }
}

/// A new reference, with the rule for the records that refer to none.
private struct ReferenceWithOrphans {
  let reference: StoredReference
  let rule: DeleteRule
}

extension StorageTransaction {
  /// The transaction that keeps references, at or below this one; nil if none does.
  package var keeper: KeepingTransaction? {
    self as? KeepingTransaction ?? (self as? FittedTransaction)?.wrapped as? KeepingTransaction
  }

  /// Begins, changes and ends the references of declarations, whose schemas the store has.
  ///
  /// A store of a newer version keeps the references and rules of that version.
  package func settleReferences(_ declarations: [ModelDeclaration], location: String) throws {
    guard let keeper else { return }
    var orphans: [ReferenceWithOrphans] = []
    for declaration in declarations where declaration.mentionsReferences {
      let fit = try SchemaFits.fit(declaration, self, location: location).fit
      let replacesRules = try declaration.replacesRules(fit, self)
      if fit.isCurrent { try keeper.endReferences(declaration) }
      orphans += try keeper.declare(declaration, replacesRules: replacesRules)
    }
    // With all references, of whatever model: deleting an orphan also deletes what refers to it, or makes it an orphan.
    var isSettled = false
    while !isSettled {
      isSettled = true
      for new in orphans where try keeper.settleOrphans(of: new.reference, new.rule) { isSettled = false }
    }
  }
}

extension KeepingTransaction {
  /// Records the references of a declared schema in the store, once.
  package func declare(_ schema: ModelSchema, _ declaration: () throws -> ModelDeclaration) throws {
    guard declared[schema.identity] == nil else { return }
    for new in try declare(declaration(), replacesRules: false) {
      _ = try settleOrphans(of: new.reference, new.rule)
    }
  }

  /// Records the references of a declaration in the store.
  ///
  /// A new reference of a model with records has them all checked at the end. A delete rule of an earlier version of the
  /// app does not replace a later one, and does not begin a reference that has ended, unless `replacesRules` says so.
  ///
  /// - Returns: The new references with a rule for the records that refer to none.
  fileprivate func declare(_ declaration: ModelDeclaration, replacesRules: Bool) throws
    -> [ReferenceWithOrphans]
  {
    var orphans: [ReferenceWithOrphans] = []
    declared[declaration.schema.identity] = declaration.schema
    for (reference, words) in zip(try stored(declaration), declaration.references) {
      var reference = reference
      func stays(_ known: StoredReference) -> Bool {
        known.stays(as: reference, replacesRules: replacesRules)
      }
      if try map.all.contains(where: stays) || map.ended.contains(where: stays) { continue }
      var formerTarget: String?
      if let known = try map.all.first(where: { $0.hasField(of: reference) }) {
        reference.formerRules = (known.formerRules + [known.rule]).filter { $0 != reference.rule }
        if StoredName(known.target) == StoredName(reference.target) {
          try save(reference, of: declaration)
          continue
        }
        formerTarget = known.target
      } else if let ended = try map.ended.first(where: { $0.hasField(of: reference) }) {
        reference.formerRules = ended.formerRules.filter { $0 != reference.rule }
      }
      try save(reference, of: declaration)
      if let rule = declaration.orphanRules[StoredName(words.field)] {
        orphans.append(ReferenceWithOrphans(reference: reference, rule: rule))
      }
      notes.add(
        NewReference(
          reference: reference, formerTarget: formerTarget, hadRecords: try hasRecords(reference.model)))
    }
    return orphans
  }

  private func hasRecords(_ model: String) throws -> Bool {
    guard let schema = try wrapped.schema(named: model) else { return false }
    return try wrapped.fetch(FetchRequest(schema, limit: 1)).read(from: 0, limit: 1) { _ in } > 0
  }

  /// Ends the references that a rule of the declaration ends.
  ///
  /// The store has the declared schema.
  fileprivate func endReferences(_ declaration: ModelDeclaration) throws {
    for var reference in try map.all where declaration.ends(reference) {
      reference.formerRules = reference.formerRules.filter { $0 != reference.rule } + [reference.rule]
      reference.isEnded = true
      try save(reference, of: declaration)
    }
  }

  private func save(_ reference: StoredReference, of declaration: ModelDeclaration) throws {
    try ReferenceLedger.save(reference, in: wrapped)
    forgetReferences()
    try meet(declaration)
  }

  /// Notes a declaration that changes references, though not the model: older versions must not undo it (contract S4).
  private func meet(_ declaration: ModelDeclaration) throws {
    let (fit, known) = try SchemaFits.fit(declaration, wrapped, location: location)
    guard fit.isCurrent, case .mapped(let mapping) = fit, mapping.meeting == .never else { return }
    var history = known ?? ModelHistory(model: mapping.stored.name)
    history.leave(mapping.stored.fingerprint)
    history.meet(declaration.schema.fingerprint)
    try SchemaLedger.write(history, replacing: mapping.stored.name, in: wrapped)
  }

  /// The declared references under their stored names.
  private func stored(_ declaration: ModelDeclaration) throws -> [StoredReference] {
    let plain = try declaration.plainReferences()
    let known = try map.all
    if plain.allSatisfy({ reference in known.contains { $0.hasEnds(of: reference) } }) { return plain }
    let mapping = try mapping(of: declaration)
    return try zip(plain, declaration.references).map { plain, reference in
      var stored = plain
      if let mapping {
        stored.model = mapping.stored.name
        if let position = mapping.declared.position(of: plain.field),
          case .stored(let place) = mapping.sources[position]
        {
          stored.field = mapping.stored.fields[place].name
        }
      }
      // Also if the declaration of the target does not fit the store any more.
      stored.target = try SchemaFits.storedName(of: reference.target(), wrapped) ?? plain.target
      return stored
    }
  }

  /// How the store represents a declaration; nil if it needs no mapping.
  private func mapping(of declaration: ModelDeclaration) throws -> SchemaMapping? {
    switch try SchemaFits.fit(declaration, wrapped, location: location).fit {
    case .mapped(let mapping): mapping
    case .evolves(let plan): plan.reading
    case .absent, .same, .refused: nil
    }
  }
}

extension ModelDeclaration {
  /// The references under the declared names.
  fileprivate func plainReferences() throws -> [StoredReference] {
    try references.map { reference in
      StoredReference(
        model: schema.name, field: reference.field, target: try reference.target().schema.name,
        rule: reference.rule)
    }
  }

  /// Whether a rule ends a reference of a store that has the declared schema.
  fileprivate func ends(_ reference: StoredReference) -> Bool {
    StoredName(reference.model) == StoredName(schema.name) && endedReferences.containsName(reference.field)
  }

  /// Whether the store lacks one of the references, has another rule for it, or has one that a rule ends.
  ///
  /// The store has the declared fields. `replacesRules` is that of an opening.
  package func changesReferences(_ reader: any StorageReader, replacesRules: Bool) throws -> Bool {
    if references.isEmpty && endedReferences.isEmpty { return false }
    let stored = try ReferenceLedger.entries(reader)
    if stored.contains(where: { !$0.isEnded && ends($0) }) { return true }
    return try !zip(plainReferences(), references).allSatisfy { reference, words in
      var reference = reference
      func isThere() -> Bool { stored.contains { $0.stays(as: reference, replacesRules: replacesRules) } }
      if isThere() { return true }
      // A newer version may have renamed the target.
      reference.target = try SchemaFits.storedName(of: words.target(), reader) ?? reference.target
      return isThere()
    }
  }

  /// Whether an opening lets the delete rules replace those of other versions, by what the declaration needs before it.
  ///
  /// A declaration that the store has never met is the newest one as soon as it changes any reference.
  package func replacesRules(_ fit: SchemaFit, _ reader: any StorageReader) throws -> Bool {
    try fit.isNewest || (fit.isCurrent && changesReferences(reader, replacesRules: false))
  }
}

extension KeepingTransaction {
  /// Changes a schema, and the names in the references.
  package func evolve(_ change: SchemaChange) throws {
    let references = try map.all + map.ended
    try wrapped.evolve(change)
    let names = (before: StoredName(change.stored.name), after: StoredName(change.target.name))
    var added: [StoredReference] = []
    for reference in references {
      var renamed: StoredReference? = reference
      if StoredName(reference.target) == names.before {
        renamed?.target = change.target.name
      }
      if StoredName(reference.model) == names.before {
        renamed?.model = change.target.name
        renamed?.field = change.name(of: reference.field) ?? ModelHistory.removedPrefix
      }
      // A removed field or model is hidden, and refers to nothing until it is declared again.
      if let new = renamed, [new.model, new.field, new.target].contains(where: ModelHistory.isRemoved) {
        renamed = nil
      }
      guard renamed != reference else { continue }
      // One may take the former name of another.
      try ReferenceLedger.remove(reference, in: wrapped)
      if let renamed { added.append(renamed) }
    }
    for reference in added { try ReferenceLedger.save(reference, in: wrapped) }
    if names.before != names.after { notes.copy(of: names.before, to: names.after) }
    notes.copyNewReferences(change)
    for reference in references where !reference.isEnded && StoredName(reference.model) == names.before {
      noteNewValues(of: reference, change)
    }
    forgetReferences()
    declared.removeAll()
  }

  /// Notes the keys that a change writes into a field that stays a reference.
  private func noteNewValues(of reference: StoredReference, _ change: SchemaChange) {
    guard let name = change.name(of: reference.field), let position = change.target.position(of: name) else {
      return
    }
    switch change.sources[position] {
    case .computed:
      var computed = reference
      (computed.model, computed.field) = (change.target.name, name)
      notes.add(NewReference(reference: computed, formerTarget: nil, hadRecords: false))
    case .field(_, replacingNil: let value?), .fill(let value):
      guard !value.isNull else { return }
      let isOwn = StoredName(reference.target) == StoredName(change.stored.name)
      notes.add(value, of: StoredName(isOwn ? change.target.name : reference.target))
    case .field(_, replacingNil: nil): break
    }
  }
}

extension SchemaChange {
  /// The name of a stored field afterwards; nil if the change removes it.
  func name(of field: String) -> String? {
    guard let position = stored.position(of: field) else { return nil }
    let place = sources.firstIndex { source in
      if case .field(position, _) = source { true } else { false }
    }
    if let place { return target.fields[place].name }
    // A field that is computed anew keeps its name.
    return target.position(of: field).map { target.fields[$0].name }
  }
}
