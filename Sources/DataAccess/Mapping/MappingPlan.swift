import PersistenceCore
import PersistenceDriver

/// A mapping that is being worked out.
struct MappingPlan<Domain: Sendable, Entity: PersistentRecord> {
  let schema: ModelSchema
  private let fields: [DomainField<Domain>]
  private(set) var writes: [@Sendable (Domain, RowBuffer) throws -> Void] = []
  private(set) var reads: [@Sendable (Entity, inout Domain) throws -> Void] = []

  /// What takes care of each property of the domain and each field of the entity, by their positions.
  private var mappedProperties: Set<Int> = []
  private var mappedFields: Set<Int> = []
  /// Why a property and a field of one name were not copied.
  private var reasons: [StoredName: String] = [:]
  private var mistakes: [String] = []

  init(_ fields: [DomainField<Domain>]) throws {
    schema = try Entity.schema.model
    self.fields = fields
    var names: Set<StoredName> = []
    for field in fields where !names.insert(StoredName(field.name)).inserted {
      mistakes.append("“\(field.name)” of \(Domain.self) is listed twice")
    }
  }

  /// Adds what a rule does.
  mutating func apply(_ rule: MappingRule<Domain, Entity>) {
    for property in rule.domainKeyPaths {
      guard let position = fields.firstIndex(where: { $0.property.anyKeyPath == property.keyPath }) else {
        mistakes.append(
          "a rule is about \(property.keyPath), which is not listed among the fields of \(Domain.self)")
        continue
      }
      if !mappedProperties.insert(position).inserted {
        mistakes.append("two rules are about “\(fields[position].name)” of \(Domain.self)")
      }
    }
    for field in rule.entityKeyPaths {
      guard let name = Entity.schema.name(of: field.keyPath), let position = schema.position(of: name) else {
        mistakes.append("a rule is about \(field.keyPath), which is no stored field of \(schema.name)")
        continue
      }
      if !mappedFields.insert(position).inserted {
        mistakes.append("two rules are about “\(name)” of \(schema.name)")
      }
      if let toEntity = rule.toEntity { writes.append { try toEntity($0, $1, position) } }
    }
    if let toDomain = rule.toDomain { reads.append(toDomain) }
  }

  /// Copies the fields of one name and one type that no rule is about.
  mutating func copyWhatIsAlike() {
    for (number, field) in fields.enumerated() where !mappedProperties.contains(number) {
      guard let position = schema.position(of: field.name), !mappedFields.contains(position),
        let keyPath = Entity.schema.keyPath(of: schema.fields[position].name)
      else { continue }
      guard let write = field.property.write, let copy = field.property.copy(from: keyPath) else {
        let (mine, theirs) = (type(of: field.property.anyKeyPath).valueType, type(of: keyPath).valueType)
        reasons[StoredName(field.name)] = "is \(mine) in \(Domain.self) and \(theirs) in \(schema.name)"
        continue
      }
      mappedProperties.insert(number)
      mappedFields.insert(position)
      writes.append { try write($0, $1, position) }
      reads.append(copy)
    }
  }

  /// Notes the stored properties that were not listed at all: looked at once, by reflection.
  mutating func requireProperties(of blank: Domain) {
    var mirror: Mirror? = Mirror(reflecting: blank)
    guard mirror?.displayStyle == .struct || mirror?.displayStyle == .class else { return }
    let listed = Set(fields.map { StoredName($0.name) })
    while let current = mirror {
      for case let label? in current.children.map(\.label) where !label.hasPrefix("_$") {
        // What a wrapper or the Observation framework stores is named after the property, with a dash before it.
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        if listed.contains(StoredName(label)) || listed.contains(StoredName(name)) { continue }
        mistakes.append("“\(label)” of \(Domain.self) is not listed among its fields")
      }
      mirror = current.superclassMirror
    }
  }

  /// Throws everything that is wrong.
  func finish() throws {
    var mistakes = mistakes
    func reason(_ name: String, _ otherwise: String) -> String { reasons[StoredName(name)] ?? otherwise }
    for (number, field) in fields.enumerated() where !mappedProperties.contains(number) {
      mistakes.append(
        "“\(field.name)” of \(Domain.self) "
          + reason(field.name, "has no field of its name in \(schema.name) that is left for it"))
    }
    for (position, field) in schema.fields.enumerated() where !mappedFields.contains(position) {
      mistakes.append(
        "“\(field.name)” of \(schema.name) "
          + reason(field.name, "has no property of its name in \(Domain.self) that is left for it"))
    }
    guard !mistakes.isEmpty else { return }
    throw PersistenceError.invalidSchema(
      schema.name,
      "it cannot be mapped to \(Domain.self); add a rule for each of these, or leave it out:\n- "
        + mistakes.joined(separator: "\n- "))
  }
}
