import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The part of a catalog entry that keeps record files from before a change of schema readable.
///
/// A change of names or of fields leaves the files as they are: a member may have an earlier name of its field, and a
/// file without a member has the field's fill. A model whose files all have exactly the current members has no past.
final class ModelPast: Codable, Sendable {
  /// A field with several names, or with a fill.
  struct Field: Codable, Sendable {
    /// The current name.
    var name: String
    /// All names of the field, in the order in which it received them; nil if it has only one.
    var names: [String]?
    /// The value in files without the member; nil if it is nil, or if every file has the member.
    var fill: PersistentValue?
  }

  private static let formLimit = 8

  /// The fields with several names or a fill, by their positions in the schema.
  let fields: [Field]
  /// The members of files from before each change, the newest first.
  ///
  /// The scanner reads these files without a tree; any others are parsed.
  let forms: [[String]]

  init(fields: [Field], forms: [[String]]) {
    self.fields = fields
    self.forms = Array(forms.prefix(Self.formLimit))
  }

  /// The entry of a field; nil if the field has one name and no fill.
  func field(named name: String) -> Field? { fields.first { StoredName($0.name) == StoredName(name) } }

  /// Whether the past is one of the schema's fields, for a catalog that was just read.
  func isPlausible(in schema: ModelSchema) -> Bool {
    var names = Set(schema.fields.map { StoredName($0.name) })
    return fields.allSatisfy { entry in
      guard let field = schema.field(named: entry.name), entry.fill.map(field.accepts) ?? true else {
        return false
      }
      let others = (entry.names ?? []).map(StoredName.init).filter { $0 != StoredName(entry.name) }
      return others.allSatisfy { names.insert($0).inserted }
    }
  }
}
