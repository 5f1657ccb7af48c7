import Foundation
package import PersistenceDriver
import PersistencePrimitives

/// What a store remembers of a model's past: what its schema does not say.
package struct ModelHistory: Sendable, Hashable, Codable {
  /// The past of one stored field.
  package struct Field: Sendable, Hashable, Codable {
    /// The stored name now; that of a removed field begins with ``ModelHistory/removedPrefix``.
    package var name: String
    /// The earlier stored names.
    package var formerNames: [String] = []
    /// The value of new records of a program that does not declare the field.
    package var fill: PersistentValue?
    /// Whether a rule has replaced the nils of the field, which is required since; nil, as in older ledgers, if not.
    package var wasOptional: Bool?

    package var isRemoved: Bool { ModelHistory.isRemoved(name) }
  }

  /// The prefix of the stored names of removed fields and models.
  ///
  /// A program that still declares the earlier name no longer matches the catalog, so it cannot overlook the removal.
  package static let removedPrefix = "\(ReservedModel.prefix)removed."

  /// The model's name.
  package var model: String
  /// The model's earlier names.
  package var formerNames: [String] = []
  /// The fields that have a past.
  package var fields: [Field] = []
  /// The stored names of the fields of each removed index.
  package var removedIndexes: [[String]] = []
  /// Those of removed indexes that a newer declaration has again; nil, as in older ledgers, if there are none.
  package var redeclaredIndexes: [[String]]?
  /// Whether a field was added after the last removal of an index or a field; nil, as in older ledgers, if not.
  ///
  /// A declaration with all fields is newer than the removal, then.
  package var hasGrown: Bool?
  /// The fingerprints of the declarations that this store has met, in the order in which they first changed it.
  package var declarations: [String] = []

  package init(model: String) { self.model = model }

  package static func isRemoved(_ name: String) -> Bool { name.utf8.starts(with: removedPrefix.utf8) }

  /// The past of a stored field; an empty one if there is none.
  package func field(_ name: String) -> Field {
    fields.first { StoredName($0.name) == StoredName(name) } ?? Field(name: name)
  }

  /// The field that once had a name.
  package func field(formerly name: String) -> Field? {
    fields.first { $0.formerNames.contains { StoredName($0) == StoredName(name) } }
  }

  /// Whether any field has or had a name.
  package func knows(_ name: String) -> Bool { field(formerly: name) != nil }

  package mutating func set(_ field: Field) {
    fields.removeAll { StoredName($0.name) == StoredName(field.name) }
    fields.append(field)
  }

  /// Notes that a field is hidden no more.
  mutating func show(_ field: FieldSchema) {
    var past = self.field(field.name)
    past.formerNames.removeAll(where: Self.isRemoved)
    // Records that were inserted in the meantime have this value.
    if !field.isOptional { past.fill = past.fill ?? field.kind.zero }
    set(past)
  }

  /// Forgets the past of a field.
  mutating func forget(_ field: Field) { fields.removeAll { StoredName($0.name) == StoredName(field.name) } }

  /// Takes the model's name from a declaration, unless that is older than the store; returns the name.
  mutating func takeName(of declaration: ModelDeclaration, stored: String) -> String {
    let declared = declaration.schema.name
    let isOlder = !declaration.isRestored && formerNames.containsName(declared)
    let name = isOlder ? stored : declared
    if StoredName(name) != StoredName(stored) { formerNames.append(stored) }
    formerNames = (formerNames + (isOlder ? [] : declaration.formerNames))
      .filter { !declaration.isRestored || !Self.isRemoved($0) }.uniqueNames(besides: name)
    model = name
    return name
  }

  /// Renames a field, and remembers the earlier name.
  package mutating func rename(_ name: String, to other: String) {
    var field = self.field(name)
    fields.removeAll { StoredName($0.name) == StoredName(name) }
    field.name = other
    field.formerNames = (field.formerNames + [name]).uniqueNames(besides: other)
    set(field)
    func renamed(_ indexes: [[String]]) -> [[String]] {
      indexes.map { $0.map { StoredName($0) == StoredName(name) ? other : $0 } }
    }
    removedIndexes = renamed(removedIndexes)
    redeclaredIndexes = redeclaredIndexes.map(renamed)
  }

  /// Notes a declaration that changes the store.
  mutating func meet(_ fingerprint: String) {
    if !declarations.contains(fingerprint) { declarations.append(fingerprint) }
  }

  /// Notes the schema that the store has before a change: a declaration of it is an earlier one.
  package mutating func leave(_ fingerprint: String) {
    if !declarations.contains(fingerprint) { declarations.insert(fingerprint, at: 0) }
  }

  /// Notes whether a change adds fields after removals.
  mutating func noteGrowth(since past: ModelHistory, adds isAdding: Bool) {
    if !removals.isSubset(of: past.removals) {
      hasGrown = nil
    } else if isAdding, !removedIndexes.isEmpty {
      hasGrown = true
    }
  }

  private var removals: Set<[StoredName]> {
    Set((removedIndexes + fields.filter(\.isRemoved).map { [$0.name] }).map { $0.map(StoredName.init) })
  }

  /// Whether a declaration is newer than the last removal of an index.
  func isOlder(than declared: ModelSchema, _ stored: ModelSchema) -> Bool {
    hasGrown == true
      && stored.fields.allSatisfy { declared.position(of: $0.name) != nil || Self.isRemoved($0.name) }
  }

  /// When the store met a declaration.
  func meeting(_ fingerprint: String) -> SchemaMapping.Meeting {
    if fingerprint == declarations.last { return .last }
    return declarations.contains(fingerprint) ? .earlier : .never
  }
}

extension ModelHistory {
  /// Whether two histories have the same words, apart from the declarations met.
  func rememberedEqually(as other: ModelHistory) -> Bool {
    var (left, right) = (self, other)
    left.declarations = []
    right.declarations = []
    left.fields = left.fields.filter { $0 != Field(name: $0.name) }.sorted { $0.name < $1.name }
    right.fields = right.fields.filter { $0 != Field(name: $0.name) }.sorted { $0.name < $1.name }
    return left == right
  }
}

extension ModelHistory {
  /// What the declaration of a new model says of the past; nil if it says nothing.
  init?(new declaration: ModelDeclaration) {
    self.init(model: declaration.schema.name)
    formerNames = declaration.formerNames
    for (field, words) in zip(declaration.schema.fields, declaration.fields) {
      let wasOptional = !field.isOptional && declaration.replacements[StoredName(field.name)] != nil
      guard words != ModelDeclaration.Field() || wasOptional else { continue }
      set(
        Field(
          name: field.name, formerNames: words.formerNames, fill: words.fill,
          wasOptional: wasOptional ? true : nil))
    }
    let names = declaration.schema.fields.map(\.name) + declaration.fields.flatMap(\.formerNames)
    let sources = declaration.computations.flatMap(\.sources).filter { source in
      !names.containsName(source) && !declaration.removedFields.contains { [$0.name].containsName(source) }
    }
    for removed in declaration.removedFields + sources.map({ .init($0) }) {
      set(
        Field(
          name: ModelHistory.removedPrefix + removed.name, formerNames: [removed.name] + removed.formerNames))
    }
    removedIndexes = declaration.removedIndexes.map { fields in
      fields.map { declaration.schema.position(of: $0) == nil ? field(formerly: $0)?.name ?? $0 : $0 }
    }
    if formerNames.isEmpty, fields.isEmpty, removedIndexes.isEmpty { return nil }
  }
}

extension ModelHistory {
  /// The value of a stored field in new records of a program that does not declare it; nil if there is none.
  func initialValue(of field: FieldSchema) -> PersistentValue? {
    let past = self.field(field.name)
    if past.isRemoved { return field.isOptional ? .null : field.kind.zero }
    return past.fill ?? (field.isOptional ? .null : nil)
  }
}

extension [String] {
  /// The names without duplicates and without another one.
  func uniqueNames(besides other: String) -> [String] {
    var seen: Set<StoredName> = [StoredName(other)]
    return filter { seen.insert(StoredName($0)).inserted }
  }
}

/// The histories of a store's models: records of the reserved model `persistence.schemas`.
package enum SchemaLedger {
  private static let schema = Result {
    try ModelSchema(
      name: "\(ReservedModel.prefix)schemas",
      fields: [FieldSchema("model", .string), FieldSchema("history", .document)],
      key: ["model"])
  }

  /// Whether a schema of the store has ever changed.
  package static func exists(in reader: any StorageReader) throws -> Bool {
    try reader.schema(named: schema.get().name) != nil
  }

  /// All histories; empty if no schema of the store has changed.
  package static func histories(_ reader: any StorageReader) throws -> [ModelHistory] {
    let schema = try schema.get()
    var histories: [ModelHistory] = []
    _ = try reader.fetch(try FetchRequest(schema)).read(from: 0, limit: Int.max) { row in
      guard case .document(let text) = try row.value(at: 1) else { return }
      do {
        histories.append(try JSONDecoder().decode(ModelHistory.self, from: Data(text.utf8)))
      } catch {
        throw PersistenceError.damaged("the history of a model's schema cannot be read (\(error))")
      }
    }
    return histories
  }

  /// The history of a model; nil if there is none.
  package static func history(of model: String, _ reader: any StorageReader) throws -> ModelHistory? {
    try histories(reader).first { StoredName($0.model) == StoredName(model) }
  }

  /// Writes a history, and removes that of an earlier name.
  package static func write(
    _ history: ModelHistory, replacing earlier: String, in transaction: any StorageTransaction
  ) throws {
    let schema = try schema.get()
    try transaction.define(schema)
    if StoredName(earlier) != StoredName(history.model) {
      _ = try transaction.delete(RecordKey([.text(earlier)]), in: schema)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = try JSONDocument.canonical(String(decoding: encoder.encode(history), as: UTF8.self))
    let row = RowBuffer(count: 2)
    row.set([.text(history.model), .document(text)])
    try row.withRow { try transaction.save($0, in: schema) }
    for name in history.formerNames where try transaction.schema(named: name) == nil {
      try transaction.define(ReservedModel.placeholder(name))
    }
  }
}
