public import PersistenceDriver

/// The mapping of models and fields from the source of a migration to its destination.
///
/// Models and fields without a rule stay as they are. A plan and a run check the mapping against the source's schemas; an
/// unknown model or field is an error.
public struct MigrationMapping: Sendable, Hashable, Codable {
  /// A change to one field.
  public enum Action: Sendable, Hashable, Codable {
    /// Drops the field.
    case drop
    /// Renames the field.
    case rename(String)
    /// Converts the field's values to another kind. Text and numbers become dates by the first format that matches.
    case convert(FieldKind, dates: [DateFormat] = [])
    /// Replaces nil with this value, in the format of CSV fields; the field becomes required.
    case fill(String)
  }

  /// A rule for one field of one model.
  public struct Rule: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var model: String
    /// The field's name in the source.
    public var field: String
    /// The change.
    public var action: Action

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - model: The model's name in the source.
    ///   - field: The field's name in the source.
    ///   - action: The change.
    public init(_ model: String, _ field: String, _ action: Action) {
      self.model = model
      self.field = field
      self.action = action
    }
  }

  /// The new names of renamed models, by their names in the source.
  public var modelNames: [String: String]

  /// The rules for fields.
  ///
  /// A field may have several rules, but only one of each action.
  public var rules: [Rule]

  /// Creates a mapping.
  ///
  /// - Parameters:
  ///   - modelNames: The new names of renamed models, by their names in the source.
  ///   - rules: The rules for fields.
  public init(modelNames: [String: String] = [:], rules: [Rule] = []) {
    self.modelNames = modelNames
    self.rules = rules
  }

  package var isIdentity: Bool { modelNames.isEmpty && rules.isEmpty }

  package func destinationName(of model: String) -> String {
    modelNames.first { StoredName($0.key) == StoredName(model) }?.value ?? model
  }

  /// Checks that the source has every model and field that the mapping names, and that model names stay unique.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` or
  ///   ``PersistenceError/Code/unknownField``.
  package func check(against schemas: [ModelSchema]) throws {
    let known = Set(schemas.map { StoredName($0.name) })
    for model in modelNames.keys.sorted() + rules.map(\.model) where !known.contains(StoredName(model)) {
      let names = schemas.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the mapping names the model “\(model)”, which the source lacks; its models are \(names)")
    }
    var taken: Set<StoredName> = []
    for schema in schemas where !taken.insert(StoredName(destinationName(of: schema.name))).inserted {
      throw PersistenceError.invalidRequest(
        "two models would have the name “\(destinationName(of: schema.name))” in the destination")
    }
    for schema in schemas { _ = try RecordMapper(self, schema) }
  }
}
