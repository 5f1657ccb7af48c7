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

extension ModelPast {
  /// The past of a model after a change that leaves its files as they are.
  enum Result {
    /// The files remain readable; nil if nothing needs to be remembered.
    case kept(ModelPast?)
    /// The files must be rewritten.
    case rewritten
  }

  /// The past of a model after a change.
  ///
  /// Files must be rewritten if values are computed or erased, or if a name would belong to two fields. The text of a
  /// float is not that of the equal double: its digits identify it only among floats.
  static func after(_ change: SchemaChange, _ past: ModelPast?) throws -> Result {
    var fields: [Field] = []
    var origins: Set<Int> = []
    var taken: Set<StoredName> = []
    for (field, source) in zip(change.target.fields, change.sources) {
      var entry = Field(name: field.name)
      switch source {
      case .computed: return .rewritten
      case .fill(let value):
        if !value.isNull { entry.fill = try RecordText.written(value, field) }
      case .field(let position, let replacement):
        let origin = change.stored.fields[position]
        guard origins.insert(position).inserted, field.kind == origin.kind || origin.kind != .float else {
          return .rewritten
        }
        let known = past?.field(named: origin.name)
        var names = known?.names ?? [origin.name]
        if !names.contains(where: { StoredName($0) == StoredName(field.name) }) { names.append(field.name) }
        entry.names = names.count > 1 ? names : nil
        // A file that a person adds later may lack the member.
        entry.fill = try known?.fill ?? replacement.map { try RecordText.written($0, field) }
      }
      guard (entry.names ?? [entry.name]).allSatisfy({ taken.insert(StoredName($0)).inserted }) else {
        return .rewritten
      }
      if entry.names != nil || entry.fill != nil { fields.append(entry) }
    }
    guard origins.count == change.stored.fields.count else { return .rewritten }
    var forms = past?.forms ?? []
    let (before, now) = (Set(change.stored.names), Set(change.target.names))
    forms.removeAll { Set($0.map(StoredName.init)) == now }
    if before != now { forms.insert(change.stored.fields.map(\.name), at: 0) }
    return .kept(fields.isEmpty && forms.isEmpty ? nil : ModelPast(fields: fields, forms: forms))
  }
}

extension ModelSchema {
  fileprivate var names: [StoredName] { fields.map { StoredName($0.name) } }
}
