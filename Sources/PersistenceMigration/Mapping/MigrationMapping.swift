public import PersistenceDriver

/// How the models and fields of a source are called, and what they hold, in a destination.
///
/// What is not named stays as it is, and a mapping that names nothing costs nothing. A mapping is checked against the
/// source's schemas when the migration is planned or run: a model or field that there is not is an error, never
/// ignored.
public struct MigrationMapping: Sendable, Hashable, Codable {
  /// What is done to one field.
  public enum Action: Sendable, Hashable, Codable {
    /// The field is left out.
    case drop
    /// The field has another name.
    case rename(String)
    /// The field's values are converted to another kind; the date forms say how dates stand in texts and numbers, and
    /// the first that a value fits is taken.
    case convert(FieldKind, dates: [DateForm] = [])
    /// Where the field is nil it has this value, written as ``MigrationMapping/parse(renames:rules:)`` says.
    case fill(String)
  }

  /// What is done to one field of one model.
  public struct Rule: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var model: String
    /// The field's name in the source.
    public var field: String
    /// What is done to it.
    public var action: Action

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - model: The model's name in the source.
    ///   - field: The field's name in the source.
    ///   - action: What is done to it.
    public init(_ model: String, _ field: String, _ action: Action) {
      self.model = model
      self.field = field
      self.action = action
    }
  }

  /// The models that have another name in the destination: a model's name there, by its name in the source.
  public var modelNames: [String: String]

  /// What is done to fields; several rules may be about one, but not two of the same sort.
  public var rules: [Rule]

  /// Makes a mapping.
  ///
  /// - Parameters:
  ///   - modelNames: A model's name in the destination, by its name in the source.
  ///   - rules: What is done to fields.
  public init(modelNames: [String: String] = [:], rules: [Rule] = []) {
    self.modelNames = modelNames
    self.rules = rules
  }

  /// Whether everything stays as it is.
  public var isIdentity: Bool { modelNames.isEmpty && rules.isEmpty }

  /// A model's name in the destination.
  public func destinationName(of model: String) -> String {
    modelNames.first { StoredName($0.key) == StoredName(model) }?.value ?? model
  }

  /// Makes sure that every name in the mapping is one of the source's, and that models stay apart.
  ///
  /// - Parameter schemas: The source's models.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` or
  ///   ``PersistenceError/Code/unknownField``.
  public func check(against schemas: [ModelSchema]) throws {
    let known = Set(schemas.map { StoredName($0.name) })
    for model in modelNames.keys.sorted() + rules.map(\.model) where !known.contains(StoredName(model)) {
      let names = schemas.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the mapping names the model “\(model)”, which the source does not hold; it holds \(names)")
    }
    var taken: Set<StoredName> = []
    for schema in schemas where !taken.insert(StoredName(destinationName(of: schema.name))).inserted {
      throw PersistenceError.invalidRequest(
        "two models would be called “\(destinationName(of: schema.name))” in the destination")
    }
    for schema in schemas { _ = try RecordMapper(self, schema) }
  }
}
