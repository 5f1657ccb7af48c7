public import PersistenceCore
public import PersistenceDriver

/// A mapping of fields that a ``Mapper`` cannot copy by name and type.
public struct MappingRule<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// The mapped properties of the domain type.
  let domainKeyPaths: [Unchecked]
  /// The mapped properties of the entity.
  let entityKeyPaths: [Unchecked]
  /// Fills the entity's row; positions are those of ``entityKeyPaths``.
  let toEntity: (@Sendable (Domain, RowBuffer, Int) throws -> Void)?
  /// Fills the domain value.
  let toDomain: (@Sendable (Entity, inout Domain) throws -> Void)?

  struct Unchecked: @unchecked Sendable {  // the initializer accepts only Sendable key paths
    let keyPath: AnyKeyPath
  }

  private init(
    _ domain: [AnyKeyPath], _ entity: [AnyKeyPath],
    toEntity: (@Sendable (Domain, RowBuffer, Int) throws -> Void)? = nil,
    toDomain: (@Sendable (Entity, inout Domain) throws -> Void)? = nil
  ) {
    domainKeyPaths = domain.map(Unchecked.init)
    entityKeyPaths = entity.map(Unchecked.init)
    self.toEntity = toEntity
    self.toDomain = toDomain
  }

  /// Converts between two properties of different names or types.
  ///
  /// - Parameters:
  ///   - property: The property of the domain type.
  ///   - field: The property of the entity.
  ///   - toEntity: Converts to the entity's value.
  ///   - toDomain: Converts to the domain's value.
  /// - Returns: The rule.
  public static func convert<Value: Sendable, Stored: PersistentValueConvertible & Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>, _ field: SendableKeyPath<Entity, Stored>,
    toEntity: @escaping @Sendable (Value) throws -> Stored,
    toDomain: @escaping @Sendable (Stored) throws -> Value
  ) -> MappingRule {
    MappingRule([property], [field]) { domain, row, position in
      row.encode(try toEntity(domain[keyPath: property]), at: position)
    } toDomain: { entity, domain in
      domain[keyPath: property] = try toDomain(entity[keyPath: field])
    }
  }

  /// Converts between a property and one that the entity stores as a document.
  ///
  /// - Parameters:
  ///   - property: The property of the domain type.
  ///   - field: The property of the entity.
  ///   - toEntity: Converts to the entity's value.
  ///   - toDomain: Converts to the domain's value.
  /// - Returns: The rule.
  @_disfavoredOverload
  public static func convert<Value: Sendable, Stored: Codable & Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>, _ field: SendableKeyPath<Entity, Stored>,
    toEntity: @escaping @Sendable (Value) throws -> Stored,
    toDomain: @escaping @Sendable (Stored) throws -> Value
  ) -> MappingRule {
    MappingRule([property], [field]) { domain, row, position in
      try row.encode(try toEntity(domain[keyPath: property]), at: position)
    } toDomain: { entity, domain in
      domain[keyPath: property] = try toDomain(entity[keyPath: field])
    }
  }

  /// Copies a property that has another name in the entity.
  ///
  /// - Parameters:
  ///   - property: The property of the domain type.
  ///   - field: The property of the entity, of the same type.
  /// - Returns: The rule.
  public static func rename<Value: PersistentValueConvertible & Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>, _ field: SendableKeyPath<Entity, Value>
  ) -> MappingRule {
    convert(property, field, toEntity: { $0 }, toDomain: { $0 })
  }

  /// Computes a property of the domain type from the entity.
  ///
  /// - Parameters:
  ///   - property: The property of the domain type.
  ///   - value: Computes its value.
  /// - Returns: The rule.
  public static func derive<Value: Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>,
    from value: @escaping @Sendable (Entity) throws -> Value
  ) -> MappingRule {
    MappingRule([property], [], toDomain: { entity, domain in domain[keyPath: property] = try value(entity) })
  }

  /// Computes a field of the entity from the domain value.
  ///
  /// - Parameters:
  ///   - field: The property of the entity.
  ///   - value: Computes its value at each write.
  /// - Returns: The rule.
  public static func fill<Stored: PersistentValueConvertible & Sendable>(
    _ field: SendableKeyPath<Entity, Stored>, from value: @escaping @Sendable (Domain) throws -> Stored
  ) -> MappingRule {
    MappingRule(
      [], [field], toEntity: { domain, row, position in row.encode(try value(domain), at: position) })
  }

  /// Omits properties of the domain type.
  ///
  /// Reading gives them the values of the blank value.
  ///
  /// - Parameter properties: The properties of the domain type.
  /// - Returns: The rule.
  public static func leaveOut(_ properties: SendablePartialKeyPath<Domain>...) -> MappingRule {
    MappingRule(properties.map { $0 as AnyKeyPath }, [])
  }
}
