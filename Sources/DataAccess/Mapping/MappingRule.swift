public import PersistenceCore
public import PersistenceDriver

/// What a ``Mapper`` does with fields that it cannot copy by name and type.
public struct MappingRule<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// The domain's properties that the rule takes care of.
  let domainKeyPaths: [Unchecked]
  /// The entity's properties that the rule takes care of.
  let entityKeyPaths: [Unchecked]
  /// Fills the entity's row; positions are those of ``entityKeyPaths``.
  let toEntity: (@Sendable (Domain, RowBuffer, Int) throws -> Void)?
  /// Fills the domain's value.
  let toDomain: (@Sendable (Entity, inout Domain) throws -> Void)?

  struct Unchecked: @unchecked Sendable {  // the key paths were Sendable when they were given
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

  /// Converts between two properties, of other names or other types.
  ///
  /// - Parameters:
  ///   - property: The domain's.
  ///   - field: The entity's.
  ///   - toEntity: Makes the entity's value.
  ///   - toDomain: Makes the domain's value.
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

  /// Converts between a property and one that the entity keeps as a document.
  ///
  /// - Parameters:
  ///   - property: The domain's.
  ///   - field: The entity's.
  ///   - toEntity: Makes the entity's value.
  ///   - toDomain: Makes the domain's value.
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

  /// Copies a property that the entity has under another name.
  ///
  /// - Parameters:
  ///   - property: The domain's.
  ///   - field: The entity's, of the same type.
  /// - Returns: The rule.
  public static func rename<Value: PersistentValueConvertible & Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>, _ field: SendableKeyPath<Entity, Value>
  ) -> MappingRule {
    convert(property, field, toEntity: { $0 }, toDomain: { $0 })
  }

  /// Makes a property of the domain that the entity does not have.
  ///
  /// - Parameters:
  ///   - property: The domain's.
  ///   - value: Makes it of the entity.
  /// - Returns: The rule.
  public static func derive<Value: Sendable>(
    _ property: SendableWritableKeyPath<Domain, Value>,
    from value: @escaping @Sendable (Entity) throws -> Value
  ) -> MappingRule {
    MappingRule([property], [], toDomain: { entity, domain in domain[keyPath: property] = try value(entity) })
  }

  /// Makes a field of the entity that the domain does not have.
  ///
  /// - Parameters:
  ///   - field: The entity's.
  ///   - value: Makes it of the domain's value, whenever that is written.
  /// - Returns: The rule.
  public static func fill<Stored: PersistentValueConvertible & Sendable>(
    _ field: SendableKeyPath<Entity, Stored>, from value: @escaping @Sendable (Domain) throws -> Stored
  ) -> MappingRule {
    MappingRule(
      [], [field], toEntity: { domain, row, position in row.encode(try value(domain), at: position) })
  }

  /// Leaves properties of the domain out: they are not stored, and are as in the blank value when it is read.
  ///
  /// - Parameter properties: The domain's.
  /// - Returns: The rule.
  public static func leaveOut(_ properties: SendablePartialKeyPath<Domain>...) -> MappingRule {
    MappingRule(properties.map { $0 as AnyKeyPath }, [])
  }
}
