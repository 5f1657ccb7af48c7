/// Something that a store has and that no model of it says: a view, a trigger, a rule that only its engine keeps.
///
/// Whoever copies a store by its models leaves these behind; so a context names them, and tools say them.
public struct UnmappedObject: Sendable, Hashable, Codable {
  /// What kind of thing it is; engines may add kinds of their own.
  public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
    /// The kind in words, such as `foreign key`.
    public let rawValue: String

    /// Makes a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A table that can be no model: its records cannot be read.
    public static let table = Kind(rawValue: "table")
    /// A view.
    public static let view = Kind(rawValue: "view")
    /// A table that a module of the engine makes up, such as a full-text index.
    public static let virtualTable = Kind(rawValue: "virtual table")
    /// A trigger.
    public static let trigger = Kind(rawValue: "trigger")
    /// A foreign key.
    public static let foreignKey = Kind(rawValue: "foreign key")
    /// A condition that every record fulfils.
    public static let check = Kind(rawValue: "check")
    /// An order or equality of a field's texts other than that of their bytes.
    public static let collation = Kind(rawValue: "collation")
    /// An index over expressions, over a part of the records, or in another order.
    public static let index = Kind(rawValue: "index")
    /// A value that the engine gives to a field where a record has none.
    public static let defaultValue = Kind(rawValue: "default")
    /// A field whose values the engine computes.
    public static let generatedColumn = Kind(rawValue: "generated column")
    /// A field whose values are of several kinds in the store, and of one in the model.
    public static let severalKinds = Kind(rawValue: "several kinds")
    /// Numbers that the engine gives to new records and never again.
    public static let autoIncrement = Kind(rawValue: "autoincrement")
  }

  /// What kind of thing it is.
  public var kind: Kind
  /// Its name, or a name for it.
  public var name: String
  /// The model that it belongs to, where it belongs to one.
  public var model: String?
  /// What it says, and what becomes of it, in words.
  public var detail: String
  /// How many records are left behind with it, where that is known.
  public var records: Int?

  /// Makes a statement.
  ///
  /// - Parameters:
  ///   - kind: What kind of thing it is.
  ///   - name: Its name, or a name for it.
  ///   - model: The model that it belongs to.
  ///   - detail: What it says, in words.
  ///   - records: How many records are left behind with it.
  public init(_ kind: Kind, _ name: String, model: String? = nil, detail: String, records: Int? = nil) {
    self.kind = kind
    self.name = name
    self.model = model
    self.detail = detail
    self.records = records
  }

  /// Whether records are left behind that are nowhere else in the store.
  public var losesRecords: Bool { kind == .table && records != 0 }
}
