public import PersistenceCore
import PersistenceDriver

/// Maps domain values, which know nothing of persistence, to stored entities and back.
///
/// The mapper copies fields of the same name and type; rules map the others. It resolves the mapping once, at
/// initialization, and reports every unmapped field as an error. Each object then costs only key path accesses.
///
/// ```swift
/// let mapper = try Mapper<Movie, StoredMovie>(
///   blank: Movie(),
///   fields: [.field("id", \.id), .field("title", \.title), .field("length", \.length)],
///   rules: [.convert(\.length, \.minutes, toEntity: { $0.minutes }, toDomain: { Length(minutes: $0) })])
/// ```
public struct Mapper<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  private typealias Write = @Sendable (Domain, RowBuffer) throws -> Void
  private typealias Read = @Sendable (Entity, inout Domain) throws -> Void

  private let blank: @Sendable () -> Domain
  private let writes: [Write]
  private let reads: [Read]
  private let fieldCount: Int

  /// Resolves the mapping.
  ///
  /// - Parameters:
  ///   - blank: A value whose properties the mapper sets. Unmapped properties keep its values.
  ///   - fields: The properties of the domain type.
  ///   - rules: Mappings of fields without a counterpart of the same name and type. A rule takes precedence
  ///     over a copy.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema``. Its message lists each
  ///   unmapped, unknown and twice-mapped property and field.
  public init(
    blank: @autoclosure @escaping @Sendable () -> Domain, fields: [DomainField<Domain>],
    rules: [MappingRule<Domain, Entity>] = []
  ) throws {
    var plan = try MappingPlan<Domain, Entity>(fields)
    for rule in rules { plan.apply(rule) }
    plan.copyMatchingFields()
    plan.requireProperties(of: blank())
    try plan.finish()
    self.blank = blank
    writes = plan.writes
    reads = plan.reads
    fieldCount = plan.schema.fields.count
  }

  /// The entity of a domain value.
  ///
  /// - Parameter domain: The domain value.
  /// - Returns: The entity.
  /// - Throws: The error of a rule, or ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed``.
  public func entity(of domain: Domain) throws -> Entity {
    let row = RowBuffer(count: fieldCount)
    for write in writes { try write(domain, row) }
    return try row.withRow { try Entity(from: $0) }
  }

  /// The domain value of an entity.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: The domain value.
  /// - Throws: The error of a rule.
  public func domain(of entity: Entity) throws -> Domain {
    var domain = blank()
    for read in reads { try read(entity, &domain) }
    return domain
  }
}
