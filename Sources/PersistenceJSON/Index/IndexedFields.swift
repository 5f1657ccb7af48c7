import PersistenceDriver
import PersistencePrimitives

/// The fields that the index contains: those of the key and of every declared index.
///
/// They are sorted by the bytes of their names, so that every declaration of the model has the same order.
struct IndexedFields: Sendable {
  /// A field and its position in rows.
  struct Field: Sendable {
    var position: Int
    var schema: FieldSchema
  }

  let schema: ModelSchema
  let fields: [Field]
  /// A description of the indexed values, which index files contain and readers compare.
  let signature: String
  /// For each position of a row, whether the field is indexed.
  private let isKept: [Bool]

  init(_ schema: ModelSchema, _ past: ModelPast? = nil) {
    self.schema = schema
    var names = Set(schema.key.map(StoredName.init))
    for index in schema.indexes { names.formUnion(index.fields.map(StoredName.init)) }
    // The first name of a field: a rename leaves the entries valid.
    let named = names.map { name in
      let field = past?.field(named: name.text)
      return (name: field?.names?.first.map(StoredName.init) ?? name, current: name, fill: field?.fill)
    }.sorted { $0.name < $1.name }
    fields = named.compactMap { entry in
      schema.position(of: entry.current.text).map { Field(position: $0, schema: schema.fields[$0]) }
    }
    var isKept = Array(repeating: false, count: schema.fields.count)
    for field in fields { isKept[field.position] = true }
    self.isKept = isKept
    let list = zip(named, fields).map { entry, field in
      let name = JSONText.canonical(.string(entry.name.text))
      let fill = entry.fill.map { " = \(JSONText.canonical(.string("\($0)")))" } ?? ""
      return "\(name) \(field.schema.kind.rawValue)\(field.schema.isOptional ? "?" : "")\(fill)"
    }
    signature = list.joined(separator: ", ")
  }

  /// Whether there are fields besides the key, which is in the file names.
  var isBeyondKey: Bool { fields.count > schema.key.count }

  /// Whether the field at a position is indexed.
  func keeps(_ position: Int) -> Bool { isKept[position] }

  /// Whether a condition uses only indexed fields.
  func keeps(_ node: PredicateNode) -> Bool {
    node.fields.allSatisfy { name in schema.position(of: name).map { isKept[$0] } ?? false }
  }
}
