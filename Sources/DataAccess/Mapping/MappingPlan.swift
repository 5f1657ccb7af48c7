import PersistenceCore
import PersistenceDriver

/// A mapping under construction.
struct MappingPlan<Domain: Sendable, Entity: PersistentRecord> {
  let schema: ModelSchema
  private let fields: [DomainField<Domain>]
  private(set) var writes: [@Sendable (Domain, RowBuffer) throws -> Void] = []
  private(set) var reads: [@Sendable (Entity, inout Domain) throws -> Void] = []

  /// The positions of the mapped properties of the domain and of the mapped fields of the entity.
  private var mappedProperties: Set<Int> = []
  private var mappedFields: Set<Int> = []
  /// The reasons why a property and a field of the same name were not copied.
  private var reasons: [StoredName: String] = [:]
  private var problems: [String] = []

  init(_ fields: [DomainField<Domain>]) throws {
    schema = try Entity.schema.model
    self.fields = fields
    var names: Set<StoredName> = []
    for field in fields where !names.insert(StoredName(field.name)).inserted {
      problems.append("“\(field.name)” of \(Domain.self) is listed twice")
    }
  }

  mutating func apply(_ rule: MappingRule<Domain, Entity>) {
    for property in rule.domainKeyPaths {
      guard let position = fields.firstIndex(where: { $0.property.anyKeyPath == property.keyPath }) else {
        problems.append(
          "a rule maps \(property.keyPath), which is not listed among the fields of \(Domain.self)")
        continue
      }
      if !mappedProperties.insert(position).inserted {
        problems.append("two rules map “\(fields[position].name)” of \(Domain.self)")
      }
    }
    for field in rule.entityKeyPaths {
      guard let name = Entity.schema.name(of: field.keyPath), let position = schema.position(of: name) else {
        problems.append("a rule maps \(field.keyPath), which is not a stored field of \(schema.name)")
        continue
      }
      if !mappedFields.insert(position).inserted {
        problems.append("two rules map “\(name)” of \(schema.name)")
      }
      if let toEntity = rule.toEntity { writes.append { try toEntity($0, $1, position) } }
    }
    if let toDomain = rule.toDomain { reads.append(toDomain) }
  }

  /// Copies the fields of the same name and type that no rule maps.
  mutating func copyMatchingFields() {
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

  /// Reports the stored properties that are not listed, found once by reflection.
  mutating func requireProperties(of blank: Domain) {
    var mirror: Mirror? = Mirror(reflecting: blank)
    guard mirror?.displayStyle == .struct || mirror?.displayStyle == .class else { return }
    let listed = Set(fields.map { StoredName($0.name) })
    while let current = mirror {
      for case let label? in current.children.map(\.label) where !label.hasPrefix("_$") {
        // A property wrapper and the Observation framework store a property under its name with an underscore.
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        if listed.contains(StoredName(label)) || listed.contains(StoredName(name)) { continue }
        problems.append("“\(label)” of \(Domain.self) is not listed among its fields")
      }
      mirror = current.superclassMirror
    }
  }

  /// Throws one error with all problems.
  func finish() throws {
    var problems = problems
    func reason(_ name: String, _ otherwise: String) -> String { reasons[StoredName(name)] ?? otherwise }
    for (number, field) in fields.enumerated() where !mappedProperties.contains(number) {
      problems.append(
        "“\(field.name)” of \(Domain.self) "
          + reason(field.name, "has no unmapped field of the same name in \(schema.name)"))
    }
    for (position, field) in schema.fields.enumerated() where !mappedFields.contains(position) {
      problems.append(
        "“\(field.name)” of \(schema.name) "
          + reason(field.name, "has no unmapped property of the same name in \(Domain.self)"))
    }
    guard !problems.isEmpty else { return }
    throw PersistenceError.invalidSchema(
      schema.name,
      "it cannot be mapped to \(Domain.self); add a rule for each of these, or omit it:\n- "
        + problems.joined(separator: "\n- "))
  }
}
