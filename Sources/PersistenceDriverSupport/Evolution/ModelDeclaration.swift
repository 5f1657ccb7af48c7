package import PersistenceDriver
import PersistencePrimitives

/// A model as code declares it: its schema, and what the code says of the model's past.
package struct ModelDeclaration: Sendable {
  /// What the code says of one field's past.
  package struct Field: Sendable, Hashable {
    /// Earlier stored names, in any order.
    package var formerNames: [String]
    /// The value of records from before the field; nil if the code gives none.
    package var fill: PersistentValue?

    package init(formerNames: [String] = [], fill: PersistentValue? = nil) {
      self.formerNames = formerNames
      self.fill = fill
    }
  }

  /// A field that the model no longer has.
  package struct RemovedField: Sendable, Hashable {
    package var name: String
    package var formerNames: [String]

    package init(_ name: String, formerNames: [String] = []) {
      self.name = name
      self.formerNames = formerNames
    }
  }

  /// Values that are computed from stored ones.
  package struct Computation: Sendable {
    /// The stored names of the computed fields, in the order of the results.
    package var fields: [String]
    /// The stored names of the sources.
    package var sources: [String]
    /// Computes the values from a row of the sources, and writes them into a row that is nil in all its fields.
    package var compute: Compute

    package typealias Compute = @Sendable (_ sources: consuming Row, _ values: RowBuffer) throws -> Void

    package init(fields: [String], sources: [String], compute: @escaping Compute) {
      self.fields = fields
      self.sources = sources
      self.compute = compute
    }
  }

  package var schema: ModelSchema
  /// Earlier names of the model, in any order.
  package var formerNames: [String]
  /// By position.
  package var fields: [Field]
  package var removedFields: [RemovedField] = []
  /// The stored names, now or formerly, of declared fields that an earlier version of the app removed.
  package var restoredFields: [String] = []
  /// Whether an earlier version of the app removed the model.
  package var isRestored = false
  /// The fields of indexes that the model no longer has.
  package var removedIndexes: [[String]] = []
  /// The values that replace nil in fields that become required, by stored name.
  package var replacements: [StoredName: PersistentValue] = [:]
  package var computations: [Computation] = []
  /// The fields that refer to records.
  package var references: [DeclaredReference] = []
  /// What happens to records of before that refer to absent ones, by the stored name of the reference.
  package var orphanRules: [StoredName: DeleteRule] = [:]
  /// The stored names of fields that were references.
  package var endedReferences: [String] = []

  package init(_ schema: ModelSchema, formerNames: [String] = [], fields: [Field]? = nil) {
    self.schema = schema
    self.formerNames = formerNames
    self.fields = fields ?? schema.fields.map { _ in Field() }
  }
}

extension ModelDeclaration {
  /// Whether fields refer to records, or did.
  package var mentionsReferences: Bool { !references.isEmpty || !endedReferences.isEmpty }

  /// Checks that no rule removes a field that the model declares, now or under an earlier name, and that each restored
  /// field is declared.
  package func checkRemovedFields() throws {
    for name in restoredFields
    where schema.position(of: name) == nil && !fields.contains(where: { $0.formerNames.containsName(name) }) {
      throw PersistenceError(
        .invalidSchema, "a rule restores “\(name)” of \(schema.name), which no property declares; declare it",
        model: schema.name, field: name)
    }
    for name in removedFields.flatMap({ [$0.name] + $0.formerNames }) {
      for (field, past) in zip(schema.fields, fields)
      where ([field.name] + past.formerNames).containsName(name) {
        throw PersistenceError(
          .invalidSchema,
          "a rule removes “\(name)” from \(schema.name), and the property “\(field.name)” uses the field; delete one of "
            + "them", model: schema.name, field: name)
      }
    }
  }
}

extension ModelSchema {
  /// A number that tells declarations apart: the FNV-1a hash of the schema, in which the order of fields and indexes
  /// does not count.
  package var fingerprint: String {
    let lines =
      [name, key.joined(separator: ",")] + fields.map(\.description).sorted()
      + indexes.map(\.description).sorted()
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in lines.joined(separator: "\n").utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return String(hash, radix: 16)
  }
}

extension [ModelDeclaration] {
  /// Checks that no model has a name or an earlier name of another one: in a store with that name, both would use the same
  /// records.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema``.
  package func requireDistinctNames() throws {
    var owners: [StoredName: String] = [:]
    for declaration in self {
      let model = declaration.schema.name
      for name in [model] + declaration.formerNames {
        let owner = owners.updateValue(model, forKey: StoredName(name)) ?? model
        guard owner != model else { continue }
        throw PersistenceError.invalidSchema(
          model,
          "“\(name)” is a name or an earlier name of \(owner) too, whose records \(model) would use; take another "
            + "name, or remove the earlier name when no store has it any more")
      }
    }
  }
}
