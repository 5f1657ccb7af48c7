import Foundation
package import PersistenceDriver
import PersistencePrimitives

/// The declarations of an app as a file: its models, and what the code says of their past.
///
/// `Schemas/current.json` contains what the code declares, `Schemas/released/1.4.0.json` what a release declared. The
/// text is deterministic, so that version control shows each change of a declaration.
package struct SchemaDocument: Sendable, Hashable {
  /// The model that a field refers to, and what a delete of its record does.
  package struct Reference: Sendable, Hashable {
    package var target: String
    package var rule: DeleteRule
    /// What happens to records of before that refer to absent ones; nil without a rule.
    package var orphans: DeleteRule?

    package init(target: String, rule: DeleteRule, orphans: DeleteRule? = nil) {
      (self.target, self.rule, self.orphans) = (target, rule, orphans)
    }
  }

  package struct Field: Sendable, Hashable {
    package var schema: FieldSchema
    package var formerNames: [String]
    package var fill: PersistentValue?
    /// The value that replaces nil in a field that has become required.
    package var replacement: PersistentValue?
    package var reference: Reference?
    /// Whether a rule says that the field has stopped being a reference.
    package var endsReference: Bool

    package init(
      schema: FieldSchema, formerNames: [String] = [], fill: PersistentValue? = nil,
      replacement: PersistentValue? = nil, reference: Reference? = nil, endsReference: Bool = false
    ) {
      (self.schema, self.formerNames) = (schema, formerNames)
      (self.fill, self.replacement) = (fill, replacement)
      (self.reference, self.endsReference) = (reference, endsReference)
    }
  }

  /// A removed model or field.
  package struct Removal: Sendable, Hashable {
    package var name: String
    package var formerNames: [String]

    package init(name: String, formerNames: [String] = []) {
      self.name = name
      self.formerNames = formerNames
    }

    /// Whether the removal concerns a name.
    package func contains(_ name: String) -> Bool { ([self.name] + formerNames).containsName(name) }
  }

  /// Fields that code computes from others.
  package struct Computation: Sendable, Hashable, Codable {
    package var fields: [String]
    package var from: [String]

    package init(fields: [String], from sources: [String]) { (self.fields, from) = (fields, sources) }
  }

  package struct Model: Sendable, Hashable {
    package var name: String
    package var formerNames: [String]
    package var fields: [Field]
    package var key: [String]
    package var indexes: [IndexSchema]
    package var computations: [Computation]
    package var removedFields: [Removal]
    package var removedIndexes: [[String]]
    /// The stored names of declared fields that an earlier version removed.
    package var restoredFields: [String]
    /// Whether an earlier version removed the model.
    package var isRestored: Bool

    package init(
      name: String, formerNames: [String] = [], fields: [Field], key: [String], indexes: [IndexSchema] = [],
      computations: [Computation] = [], removedFields: [Removal] = [], removedIndexes: [[String]] = [],
      restoredFields: [String] = [], isRestored: Bool = false
    ) {
      (self.name, self.formerNames, self.fields, self.key) = (name, formerNames, fields, key)
      (self.indexes, self.computations) = (indexes, computations)
      (self.removedFields, self.removedIndexes) = (removedFields, removedIndexes)
      (self.restoredFields, self.isRestored) = (restoredFields, isRestored)
    }
  }

  /// Sorted by name.
  package var models: [Model]
  /// Sorted by name.
  package var removedModels: [Removal]

  package init(models: [Model], removedModels: [Removal] = []) {
    self.models = models.sorted { StoredName($0.name) < StoredName($1.name) }
    self.removedModels = removedModels.sorted { StoredName($0.name) < StoredName($1.name) }
  }

  package init(_ declarations: [ModelDeclaration], removedModels: [Removal] = []) throws {
    self.init(models: try declarations.map(Model.init), removedModels: removedModels)
  }

  /// Reads a file.
  ///
  /// - Throws: ``PersistenceError``: `inputOutput` if the file cannot be read, `invalidSchema` if it is not a schema.
  package init(contentsOf path: String) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PersistenceError(.inputOutput, "the schema \(path) cannot be read; check the path")
    }
    do {
      self = try JSONDecoder().decode(SchemaDocument.self, from: data)
    } catch {
      throw PersistenceError(
        .invalidSchema, "\(path) is not a schema of SchemaHistory; record it again: \(error)")
    }
  }

  /// The file's text.
  package var text: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
  }

  /// The model with a name, now or formerly.
  package func model(_ name: String) -> Model? {
    models.first { [$0.name].containsName(name) } ?? models.first { $0.formerNames.containsName(name) }
  }
}

extension SchemaDocument.Model {
  init(_ declaration: ModelDeclaration) throws {
    let schema = declaration.schema
    let fields = try zip(schema.fields, declaration.fields).map { field, past in
      let name = StoredName(field.name)
      let reference = try declaration.references.first { StoredName($0.field) == name }.map {
        SchemaDocument.Reference(
          target: try $0.target().schema.name, rule: $0.rule, orphans: declaration.orphanRules[name])
      }
      return SchemaDocument.Field(
        schema: field, formerNames: past.formerNames, fill: past.fill,
        replacement: declaration.replacements[name], reference: reference,
        endsReference: declaration.endedReferences.containsName(field.name))
    }
    self.init(
      name: schema.name, formerNames: declaration.formerNames, fields: fields, key: schema.key,
      indexes: schema.indexes,
      computations: declaration.computations.map { .init(fields: $0.fields, from: $0.sources) },
      removedFields: declaration.removedFields.map { .init(name: $0.name, formerNames: $0.formerNames) },
      removedIndexes: declaration.removedIndexes, restoredFields: declaration.restoredFields,
      isRestored: declaration.isRestored)
  }

  /// The declaration without references, whose computations throw: a file contains no code.
  package var declaration: ModelDeclaration {
    get throws {
      let schema = try ModelSchema(name: name, fields: fields.map(\.schema), key: key, indexes: indexes)
      var declaration = ModelDeclaration(
        schema, formerNames: formerNames,
        fields: fields.map { .init(formerNames: $0.formerNames, fill: $0.fill) })
      for field in fields {
        declaration.replacements[StoredName(field.schema.name)] = field.replacement
      }
      declaration.removedFields = removedFields.map { .init($0.name, formerNames: $0.formerNames) }
      declaration.removedIndexes = removedIndexes
      (declaration.restoredFields, declaration.isRestored) = (restoredFields, isRestored)
      declaration.computations = computations.map { computation in
        ModelDeclaration.Computation(fields: computation.fields, sources: computation.from) { _, _ in
          throw PersistenceError(
            .unsupported,
            "only the app can compute \(computation.fields.joined(separator: ", ")); open the store with the app",
            model: name)
        }
      }
      return declaration
    }
  }

  /// The field with a name, now or formerly.
  package func field(_ name: String) -> SchemaDocument.Field? {
    fields.first { [$0.schema.name].containsName(name) } ?? fields.first { $0.formerNames.containsName(name) }
  }
}

extension SchemaDocument {
  /// The declaration of a model, with its references.
  package func declaration(of model: Model) throws -> ModelDeclaration {
    var declaration = try model.declaration
    for field in model.fields {
      if field.endsReference { declaration.endedReferences.append(field.schema.name) }
      guard let reference = field.reference else { continue }
      guard let target = self.model(reference.target) else {
        throw PersistenceError.invalidSchema(
          model.name, "“\(field.schema.name)” refers to \(reference.target), which the file does not contain")
      }
      declaration.orphanRules[StoredName(field.schema.name)] = reference.orphans
      declaration.references.append(
        DeclaredReference(field: field.schema.name, rule: reference.rule) {
          try self.declaration(of: target)
        })
    }
    return declaration
  }

  /// The visible schema of a store, and what the store remembers of its past.
  package init(_ reader: any StorageReader) throws {
    let histories = try SchemaLedger.histories(reader)
    let references = try ReferenceLedger.references(reader)
    let models = try reader.catalog().filter { !$0.isReserved }.map { schema in
      let history =
        histories.first { [$0.model].containsName(schema.name) } ?? ModelHistory(model: schema.name)
      let fields = schema.fields.filter { !ModelHistory.isRemoved($0.name) }.map { field in
        let past = history.field(field.name)
        let reference = references.first {
          StoredName($0.model) == StoredName(schema.name) && StoredName($0.field) == StoredName(field.name)
        }
        return Field(
          schema: field, formerNames: past.formerNames, fill: past.fill,
          reference: reference.map { Reference(target: $0.target, rule: $0.rule) })
      }
      let names = fields.map(\.schema.name)
      return Model(
        name: schema.name, formerNames: history.formerNames, fields: fields, key: schema.key,
        indexes: schema.indexes.filter { $0.fields.allSatisfy(names.containsName) },
        removedFields: history.fields.filter(\.isRemoved).map {
          Removal(hidden: $0.name, formerNames: $0.formerNames)
        },
        removedIndexes: history.removedIndexes.map { fields in
          fields.map { name in
            guard ModelHistory.isRemoved(name) else { return name }
            return Removal(hidden: name, formerNames: history.field(name).formerNames).name
          }
        })
    }
    self.init(
      models: models,
      removedModels: histories.filter { ModelHistory.isRemoved($0.model) }.map {
        Removal(hidden: $0.model, formerNames: $0.formerNames)
      })
  }

  /// Changes a store as an opening by code with these declarations would, inside a transaction that keeps references.
  package func apply(
    in transaction: any StorageTransaction, location: String,
    _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let fits = SchemaFits(location: location)
    let declarations = try models.map(declaration)
    try declarations.requireDistinctNames()
    for declaration in declarations {
      fits.declare(declaration)
      try fits.evolve(declaration.schema, limit: .rewrite, in: transaction, progress)
    }
    try transaction.settleReferences(declarations, location: location)
    for model in removedModels {
      guard try SchemaFits.isRemovalNeeded(model.name, formerNames: model.formerNames, transaction) else {
        continue
      }
      try SchemaFits.remove(model.name, formerNames: model.formerNames, in: transaction)
    }
  }
}

extension SchemaDocument.Removal {
  /// The removal of a hidden field or model: its name is the one that it had last.
  init(hidden: String, formerNames: [String]) {
    let suffix = hidden.utf8.dropFirst(ModelHistory.removedPrefix.utf8.count)
    let names = formerNames.filter { name in
      suffix.starts(with: name.utf8)
        && suffix.dropFirst(name.utf8.count).allSatisfy { $0 == UInt8(ascii: "+") }
    }
    name = names.max { $0.utf8.count < $1.utf8.count } ?? String(Substring(suffix))
    let last = StoredName(name)
    self.formerNames = formerNames.filter { StoredName($0) != last && !ModelHistory.isRemoved($0) }
  }
}

extension [String] {
  /// Whether the list contains a stored name, byte by byte.
  package func containsName(_ name: String) -> Bool { contains { StoredName($0) == StoredName(name) } }
}
