/// An object of a store that models cannot express, such as a view or a trigger.
///
/// A copy by models loses these objects, so a context lists them and tools print the list.
public struct UnmappedObject: Sendable, Hashable, Codable {
  /// The kind of an object; engines may add kinds.
  public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
    /// The name of the kind, such as `foreign key`.
    public let rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A table that cannot be a model, so that its records cannot be read.
    public static let table = Kind(rawValue: "table")
    /// A view.
    public static let view = Kind(rawValue: "view")
    /// A virtual table of the engine, such as a full-text index.
    public static let virtualTable = Kind(rawValue: "virtual table")
    /// A trigger.
    public static let trigger = Kind(rawValue: "trigger")
    /// A foreign key.
    public static let foreignKey = Kind(rawValue: "foreign key")
    /// A reference to records that are not copied with it.
    public static let reference = Kind(rawValue: "reference")
    /// A check constraint.
    public static let check = Kind(rawValue: "check")
    /// A collation other than the order of bytes.
    public static let collation = Kind(rawValue: "collation")
    /// An index over expressions, over part of the records, or with another order.
    public static let index = Kind(rawValue: "index")
    /// A default value of a field.
    public static let defaultValue = Kind(rawValue: "default")
    /// A field whose values the engine generates.
    public static let generatedColumn = Kind(rawValue: "generated column")
    /// A field that contains values of several kinds; a model field has one kind.
    public static let severalKinds = Kind(rawValue: "several kinds")
    /// Automatically assigned numbers that are never reused.
    public static let autoIncrement = Kind(rawValue: "autoincrement")
    /// A column of a type that no kind represents, whose values no copy has.
    package static let column = Kind(rawValue: "column")
  }

  /// The kind of the object.
  public var kind: Kind
  /// The name of the object, or a description if it has none.
  public var name: String
  /// The model that it belongs to; nil if none.
  public var model: String?
  /// The definition of the object, and the effect of a copy on it.
  public var detail: String
  /// The number of records that a copy loses with it; nil if unknown.
  public var records: Int?
  /// The reference that a foreign key of one field amounts to; nil for other objects.
  public var reference: Reference?

  /// A field that leads to records of another model, as a foreign key does.
  public struct Reference: Sendable, Hashable, Codable {
    /// The stored name of the field.
    public var field: String
    /// The model whose key the field has.
    public var target: String
    /// What the engine does with the record when its target is deleted.
    public var rule: DeleteRule

    /// Creates a reference.
    public init(_ field: String, to target: String, onDelete rule: DeleteRule) {
      (self.field, self.target, self.rule) = (field, target, rule)
    }
  }

  /// Creates a description of an object.
  ///
  /// - Parameters:
  ///   - kind: The kind of the object.
  ///   - name: The name of the object, or a description if it has none.
  ///   - model: The model that it belongs to.
  ///   - detail: The definition of the object, and the effect of a copy on it.
  ///   - records: The number of records that a copy loses with it.
  ///   - reference: The reference that a foreign key amounts to.
  public init(
    _ kind: Kind, _ name: String, model: String? = nil, detail: String, records: Int? = nil,
    reference: Reference? = nil
  ) {
    self.reference = reference
    self.kind = kind
    self.name = name
    self.model = model
    self.detail = detail
    self.records = records
  }

  /// Whether a copy loses records or values that exist nowhere else in the store.
  package var losesRecords: Bool { (kind == .table && records != 0) || kind == .column }
}
