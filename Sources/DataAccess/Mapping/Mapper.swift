public import PersistenceCore
import PersistenceDriver

/// Makes entities, which stores keep, of values of an app's domain, which know nothing of persistence, and back.
///
/// Fields of one name and one type are copied; rules say what becomes of the others. All of that is worked out once,
/// when the mapper is made, and what is left over is an error then: for each object, only key paths are followed.
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

  /// Works out how fields are mapped.
  ///
  /// - Parameters:
  ///   - blank: A value whose properties are then set; what is left out stays as it is here.
  ///   - fields: The properties of the domain's type.
  ///   - rules: What becomes of fields without a counterpart of the same name and type. A rule goes before a copy.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema``, which lists every property and
  ///   every field that would be left unmapped, and everything that is mapped twice or is not there.
  public init(
    blank: @autoclosure @escaping @Sendable () -> Domain, fields: [DomainField<Domain>],
    rules: [MappingRule<Domain, Entity>] = []
  ) throws {
    var plan = try MappingPlan<Domain, Entity>(fields)
    for rule in rules { plan.apply(rule) }
    plan.copyWhatIsAlike()
    plan.requireProperties(of: blank())
    try plan.finish()
    self.blank = blank
    writes = plan.writes
    reads = plan.reads
    fieldCount = plan.schema.fields.count
  }

  /// The entity of a value of the domain.
  ///
  /// - Parameter domain: The value.
  /// - Returns: What is stored.
  /// - Throws: What a rule throws, and ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed``.
  public func entity(of domain: Domain) throws -> Entity {
    let row = RowBuffer(count: fieldCount)
    for write in writes { try write(domain, row) }
    return try row.withRow { try Entity(from: $0) }
  }

  /// The value of the domain that an entity stands for.
  ///
  /// - Parameter entity: What is stored.
  /// - Returns: The value.
  /// - Throws: What a rule throws.
  public func domain(of entity: Entity) throws -> Domain {
    var domain = blank()
    for read in reads { try read(entity, &domain) }
    return domain
  }
}
