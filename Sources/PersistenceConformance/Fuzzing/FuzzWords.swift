public import PersistenceCore
import PersistenceDriverSupport

/// What a declaration of a fuzzer's program says of its model's past.
public struct FuzzWords: Sendable, Codable, Hashable {
  /// What it says of one field's past.
  public struct Field: Sendable, Codable, Hashable {
    /// The field's name.
    public var name: String
    /// The earlier name; nil if there is none.
    public var formerName: String?
    /// The value of records from before the field; nil if there is none.
    public var fill: PersistentValue?

    /// Creates the words of a field.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - formerName: The earlier name; nil if there is none.
    ///   - fill: The value of records from before the field; nil if there is none.
    public init(_ name: String, was formerName: String? = nil, fill: PersistentValue? = nil) {
      self.name = name
      self.formerName = formerName
      self.fill = fill
    }
  }

  /// The earlier name of the model; nil if there is none.
  public var formerName: String?
  /// The fields that have a past.
  public var fields: [Field]
  /// The version whose program runs the step, instead of the other words; nil if the step knows no versions.
  public var past: FuzzPast?

  /// Creates the words of a declaration.
  ///
  /// - Parameters:
  ///   - formerName: The earlier name of the model; nil if there is none.
  ///   - fields: The fields that have a past.
  public init(was formerName: String? = nil, _ fields: [Field] = []) {
    self.formerName = formerName
    self.fields = fields
  }

  /// Creates the words of a version.
  ///
  /// - Parameter past: The version.
  public init(past: FuzzPast) {
    self.init()
    self.past = past
  }

  /// Returns the words for a field; nil if there are none.
  func field(named name: String) -> Field? { fields.first { FuzzValue.isSameName($0.name, name) } }

  /// Returns the declaration of a schema with these words.
  func declaration(of schema: ModelSchema) -> ModelDeclaration {
    if let past { return past.declaration(of: schema) }
    return ModelDeclaration(
      schema, formerNames: formerName.map { [$0] } ?? [],
      fields: schema.fields.map { field in
        let words = self.field(named: field.name)
        return ModelDeclaration.Field(
          formerNames: words?.formerName.map { [$0] } ?? [], fill: words?.fill)
      })
  }
}
