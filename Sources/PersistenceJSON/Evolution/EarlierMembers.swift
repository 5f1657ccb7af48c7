import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The members of record files from before changes of schema, by the positions that their fields have now.
final class EarlierMembers: Sendable {
  /// A set of members that files have.
  struct Form: Sendable {
    var form: RecordForm
    /// The values of the fields without a member.
    var fills: [(position: Int, value: PersistentValue)]
  }

  let forms: [Form]
  private let schema: ModelSchema
  private let positions: [StoredName: Int]
  private let fills: [Int: PersistentValue]

  init(_ past: ModelPast, in schema: ModelSchema) {
    var positions: [StoredName: Int] = [:]
    var fills: [Int: PersistentValue] = [:]
    for (position, field) in schema.fields.enumerated() {
      positions[StoredName(field.name)] = position
      guard let entry = past.field(named: field.name) else { continue }
      for name in entry.names ?? [] { positions[StoredName(name)] = position }
      fills[position] = entry.fill
    }
    self.schema = schema
    self.positions = positions
    self.fills = fills
    forms = past.forms.compactMap { names in
      let members = names.compactMap { name in positions[StoredName(name)].map { (name: name, position: $0) }
      }
      let found = Set(members.map(\.position))
      guard found.count == names.count else { return nil }
      let missing = schema.fields.indices.filter { !found.contains($0) }
      guard missing.allSatisfy({ fills[$0] != nil || schema.fields[$0].isOptional }) else { return nil }
      return Form(
        form: RecordForm(members, in: schema),
        fills: missing.compactMap { position in fills[position].map { (position, $0) } })
    }
  }

  /// The first member of a field that another member contains already; nil if there is none.
  func duplicate(in members: [JSONMember]) -> String? {
    var found: Set<Int> = []
    return members.first { member in
      positions[StoredName(member.name)].map { !found.insert($0).inserted } ?? false
    }?.name
  }

  /// The name of a field's member.
  func name(of field: FieldSchema, in members: [JSONMember]) -> String {
    let position = positions[StoredName(field.name)]
    return members.first { positions[StoredName($0.name)] == position }?.name ?? field.name
  }

  /// Fills a row from the members of an object; fields without a member have their fill.
  func fill(_ row: RowBuffer, from members: [JSONMember], by reader: ValueReader) throws(RecordMismatch) {
    row.reset()
    var isGiven = [Bool](repeating: false, count: schema.fields.count)
    for member in members {
      guard let position = positions[StoredName(member.name)] else { throw .unknownField(member.name) }
      isGiven[position] = true
      row.set(try reader.value(member.value, for: schema.fields[position]), at: position)
    }
    for (position, field) in schema.fields.enumerated() where !isGiven[position] {
      if let value = fills[position] {
        row.set(value, at: position)
      } else if !field.isOptional {
        throw .missing(field)
      }
    }
  }
}
