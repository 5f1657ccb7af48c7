package import PersistenceDriver
import PersistencePrimitives

/// Compares one declaration with one stored schema.
package struct SchemaComparison {
  private let declaration: ModelDeclaration
  private let stored: ModelSchema
  /// What the store remembers now, and after the change.
  private let past: ModelHistory
  private var history: ModelHistory
  private var differences: [SchemaDifference] = []
  private var usedPositions: Set<Int> = []
  /// The target's fields and their sources, by stored position, then the added fields.
  private var kept: [(field: FieldSchema, source: SchemaChange.Source)]
  private var added: [(field: FieldSchema, source: SchemaChange.Source)] = []
  private var sources: [SchemaMapping.Source] = []
  private var computations: ComputationPlan
  private let resolver: FieldResolver
  private var isReadable = true
  private var hasChanged = false
  private var needsWord = false

  private var declared: ModelSchema { declaration.schema }

  /// Compares.
  ///
  /// - Parameters:
  ///   - declaration: The declaration.
  ///   - stored: The schema in the catalog, of the same or an earlier or later name.
  ///   - history: What the store remembers; nil if it remembers nothing.
  /// - Returns: What the declaration needs.
  /// - Throws: ``PersistenceError`` if no schema can represent the result.
  package static func fit(
    _ declaration: ModelDeclaration, stored: ModelSchema, history: ModelHistory?
  ) throws -> SchemaFit {
    var comparison = SchemaComparison(declaration, stored, history)
    return try comparison.fit()
  }

  private init(_ declaration: ModelDeclaration, _ stored: ModelSchema, _ history: ModelHistory?) {
    self.declaration = declaration
    self.stored = stored
    past = history ?? ModelHistory(model: stored.name)
    self.history = past
    computations = ComputationPlan(declaration.computations)
    resolver = FieldResolver(declaration: declaration, stored: stored, history: self.history)
    kept = stored.fields.enumerated().map { ($0.element, .field($0.offset)) }
  }

  private mutating func fit() throws -> SchemaFit {
    for position in declared.fields.indices { try compare(position) }
    checkKey()
    removeFields()
    guard differences.isEmpty else { return .refused(differences.map(knowingUndeclaredFields)) }
    let fields = kept + added
    let name = history.takeName(of: declaration, stored: stored.name)
    if !name.isName(stored.name) { hasChanged = true }
    let indexes = targetIndexes()
    let target = try ModelSchema(
      name: name, fields: fields.map(\.field),
      key: stored.keyPositions.map { kept[$0].field.name }, indexes: indexes)
    remember(target)
    if !hasChanged, target == stored, past.rememberedEqually(as: history) {
      if declared == stored { return .same }
      return .mapped(mapping(stored))
    }
    history.noteGrowth(since: past, adds: added.contains { !past.knows($0.field.name) })
    history.leave(stored.fingerprint)
    history.meet(declared.fingerprint)
    let change = try SchemaChange(
      from: stored, to: target, sources: fields.map(\.source),
      computeSources: Array(computations.storedSources),
      compute: computations.function(of: added.filter { $0.source == .computed }.map(\.field.name)))
    return .evolves(
      SchemaPlan(
        change: change, history: history, reading: isReadable ? mapping(stored) : nil, isDeclared: needsWord))
  }

  private func knowingUndeclaredFields(_ difference: SchemaDifference) -> SchemaDifference {
    guard difference.kind == .missing else { return difference }
    var difference = difference
    difference.undeclared = stored.fields.enumerated().filter { position, field in
      !usedPositions.contains(position) && !ModelHistory.isRemoved(field.name)
    }.map(\.element)
    return difference
  }

  // MARK: - Fields

  private mutating func compare(_ position: Int) throws {
    let field = declared.fields[position]
    let words = declaration.fields[position]
    if let found = resolver.position(of: position) {
      // Two earlier names of one field would each overwrite the other's value.
      guard usedPositions.insert(found).inserted else {
        differences.append(SchemaDifference(declared, field, .renamed(stored.fields[found].name)))
        sources.append(.constant(.null))
        return
      }
      sources.append(.stored(found))
      let isRestored = ModelHistory.isRemoved(stored.fields[found].name)
      if isRestored { (needsWord, hasChanged) = (true, true) }
      return match(field, words, with: found, isRestored: isRestored)
    }
    if let past = resolver.restoredPast(of: position) {
      (needsWord, hasChanged) = (true, true)
      // The values were erased, or a version without the field made the store.
      history.forget(past)
    } else if let past = history.field(formerly: field.name) {
      differences.append(SchemaDifference(declared, field, past.isRemoved ? .removed : .renamed(past.name)))
      sources.append(.constant(.null))
      return
    }
    if computations.makes(field.name) { return addComputed(field, words) }
    guard let fill = words.fill ?? (field.isOptional ? .null : nil) else {
      differences.append(SchemaDifference(declared, field, .missing))
      sources.append(.constant(.null))
      return
    }
    hasChanged = true
    added.append((field, .fill(fill)))
    sources.append(.constant(fill))
    rememberNames(of: field, words)
    var past = history.field(field.name)
    past.fill = fill
    history.set(past)
  }

  /// Notes the earlier names of an added field, which an older program must not add (contract S4).
  private mutating func rememberNames(of field: FieldSchema, _ words: ModelDeclaration.Field) {
    var past = history.field(field.name)
    past.formerNames = (past.formerNames + words.formerNames).uniqueNames(besides: field.name)
    history.set(past)
  }

  private mutating func match(
    _ field: FieldSchema, _ words: ModelDeclaration.Field, with position: Int, isRestored: Bool
  ) {
    let found = stored.fields[position]
    var target = kept[position].field
    var replacement: PersistentValue?
    let isOlder =
      !isRestored && history.field(formerly: field.name).map { $0.name.isName(found.name) } ?? false
    if !isOlder, !found.name.isName(field.name) {
      target.name = field.name
      history.rename(found.name, to: field.name)
    }
    if isRestored { history.show(target) }
    var past = history.field(target.name)
    let names = (past.formerNames + (isOlder ? [] : words.formerNames)).uniqueNames(besides: target.name)
    if names != past.formerNames {
      past.formerNames = names
      history.set(past)
    }
    if field.kind != found.kind {
      guard field.kind.includes(found.kind) else {
        var shown = found
        if isRestored { shown.name = field.name }
        differences.append(SchemaDifference(declared, field, .kind(shown)))
        return
      }
      target.kind = field.kind
    }
    if field.isOptional, !found.isOptional {
      // A newer program made the field required, so an older one does not make it optional again (contract S4).
      if isMet || past.wasOptional == true {
        differences.append(SchemaDifference(declared, field, .required))
        return
      }
      target.isOptional = true
    }
    if !field.isOptional, found.isOptional {
      guard let value = declaration.replacements[StoredName(field.name)] else {
        differences.append(SchemaDifference(declared, field, .optional))
        return
      }
      target.isOptional = false
      replacement = value
      isReadable = false
      needsWord = true
    }
    if !field.isOptional, let value = declaration.replacements[StoredName(field.name)] {
      past.wasOptional = true
      // New records of programs that do not declare the field have no nil either.
      if replacement != nil { past.fill = value }
      history.set(past)
    }
    if target != found { hasChanged = true }
    kept[position] = (target, .field(position, replacingNil: replacement))
  }

  private mutating func addComputed(_ field: FieldSchema, _ words: ModelDeclaration.Field) {
    hasChanged = true
    needsWord = true
    isReadable = false
    sources.append(.constant(.null))
    if let missing = computations.add(field.name, resolver) {
      differences.append(SchemaDifference(declared, field, .source(missing)))
    } else {
      added.append((field, .computed))
      rememberNames(of: field, words)
    }
  }

  private mutating func removeFields() {
    for position in computations.storedSources.sorted() where !usedPositions.contains(position) {
      remove(stored.fields[position].name)
    }
    for removed in declaration.removedFields {
      let names = [removed.name] + removed.formerNames
      for name in names { remove(name) }
      // Also where the store never had the field: an older program must not add it (contract S4).
      var past =
        names.lazy.compactMap { [history] in history.field(formerly: $0) }.first
        ?? .init(name: ModelHistory.removedPrefix + removed.name)
      past.formerNames = (past.formerNames + names).uniqueNames(besides: past.name)
      history.set(past)
    }
  }

  private mutating func remove(_ name: String) {
    guard let position = stored.position(of: name), !ModelHistory.isRemoved(name),
      !kept[position].field.name.utf8.starts(with: ModelHistory.removedPrefix.utf8)
    else { return }
    hasChanged = true
    needsWord = true
    var hidden = ModelHistory.removedPrefix + name
    while stored.position(of: hidden) != nil { hidden += "+" }
    kept[position].field.name = hidden
    history.rename(name, to: hidden)
  }

  // MARK: - Key, indexes and names

  private mutating func checkKey() {
    let key = declared.keyPositions.map { sources[$0] }
    if key != stored.keyPositions.map({ .stored($0) }) {
      differences.append(SchemaDifference(declared, nil, .key(stored.key)))
    }
  }

  private mutating func targetIndexes() -> [IndexSchema] {
    let comparison = IndexComparison(
      stored: stored.indexes.map { IndexSchema($0.fields.map(renamed), isUnique: $0.isUnique) },
      declared: declared.indexes.map { IndexSchema($0.fields.map(targetNameOfField), isUnique: $0.isUnique) },
      removed: declaration.removedIndexes.map { $0.map(targetNameInRule) }, fields: kept.map(\.field),
      isMet: isMet,
      saysNew: hasChanged || past.isOlder(than: declared, stored) || !past.rememberedEqually(as: history))
    return comparison.target(&history)
  }

  /// Whether the store has met the declaration, which may be an older one.
  private var isMet: Bool { past.declarations.contains(declared.fingerprint) }

  /// The target's name of a stored field.
  private func renamed(_ name: String) -> String {
    stored.position(of: name).map { kept[$0].field.name } ?? name
  }

  /// The target's name of a declared field.
  private func targetNameOfField(_ name: String) -> String {
    guard let position = declared.position(of: name), case .stored(let found) = sources[position] else {
      return name
    }
    return kept[found].field.name
  }

  /// The target's name of a field that a rule names: declared, removed, or under an earlier name.
  private func targetNameInRule(_ name: String) -> String {
    if declared.position(of: name) != nil { return targetNameOfField(name) }
    if stored.position(of: name) != nil { return renamed(name) }
    return history.field(formerly: name)?.name ?? name
  }

  private mutating func remember(_ target: ModelSchema) {
    // The fills of declared fields serve programs that do not declare them.
    for (position, words) in declaration.fields.enumerated() {
      guard let fill = words.fill, hasChanged else { continue }
      var past = history.field(targetNameOfField(declared.fields[position].name))
      if past.fill == nil {
        past.fill = fill
        history.set(past)
      }
    }
  }

  // MARK: - Mapping

  private var unseen: [Int] { stored.fields.indices.filter { !usedPositions.contains($0) } }

  private func mapping(_ stored: ModelSchema) -> SchemaMapping {
    let unseen = unseen.map { position in
      SchemaMapping.UnseenField(
        position: position, initial: past.initialValue(of: stored.fields[position]))
    }
    return SchemaMapping(
      declared: declared, stored: stored, sources: sources, unseen: unseen,
      meeting: past.meeting(declared.fingerprint))
  }
}
