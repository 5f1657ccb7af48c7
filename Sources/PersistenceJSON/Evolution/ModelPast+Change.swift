import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

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
