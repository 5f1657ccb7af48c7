import PersistenceDriver
import PersistencePrimitives

/// The fields of a model whose values the index keeps: those of the key and of every declared index, by the bytes
/// of their names, so that they are the same for every declaration of the model.
struct IndexedFields: Sendable {
  /// One field, and where rows have it.
  struct Field: Sendable {
    var position: Int
    var schema: FieldSchema
  }

  let schema: ModelSchema
  let fields: [Field]
  /// What kept values mean: written into an index's file, and compared when it is read.
  let signature: String
  /// For each position of a row, whether its value is kept.
  private let isKept: [Bool]

  init(_ schema: ModelSchema) {
    self.schema = schema
    var names = Set(schema.key.map(StoredName.init))
    for index in schema.indexes { names.formUnion(index.fields.map(StoredName.init)) }
    fields = names.sorted().compactMap { name in
      schema.position(of: name.text).map { Field(position: $0, schema: schema.fields[$0]) }
    }
    var isKept = Array(repeating: false, count: schema.fields.count)
    for field in fields { isKept[field.position] = true }
    self.isKept = isKept
    let list = fields.map { field in
      let name = JSONText.canonical(.string(field.schema.name))
      return "\(name) \(field.schema.kind.rawValue)\(field.schema.isOptional ? "?" : "")"
    }
    signature = list.joined(separator: ", ")
  }

  /// Whether fields beyond the key's, which the files' names tell, are kept.
  var isBeyondKey: Bool { fields.count > schema.key.count }

  /// Whether the value at a position is kept.
  func keeps(_ position: Int) -> Bool { isKept[position] }

  /// Whether a condition is about kept values only.
  func keeps(_ node: PredicateNode) -> Bool {
    node.fields.allSatisfy { name in schema.position(of: name).map { isKept[$0] } ?? false }
  }
}
