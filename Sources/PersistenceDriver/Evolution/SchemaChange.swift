import PersistencePrimitives

/// A change of one model's stored schema: what the catalog contains before and after, and where the values of each
/// field come from.
///
/// A driver applies it in ``StorageTransaction/evolve(_:)``. The change is validated when it is made, so a driver only
/// checks that ``stored`` is what its catalog contains.
public struct SchemaChange: Sendable {
  /// The source of a field's values in the records that exist.
  public enum Source: Sendable, Hashable {
    /// The values of a stored field, by its position in ``SchemaChange/stored``.
    ///
    /// The kind is the same or wider. `replacingNil` is the value of records that have nil, if the field becomes
    /// required; otherwise it is nil.
    case field(Int, replacingNil: PersistentValue? = nil)
    /// One value for all records.
    case fill(PersistentValue)
    /// The next value that ``SchemaChange/compute`` writes.
    case computed
  }

  /// Computes values from a record as it was stored, and writes them into a row that is nil in all its fields: one for
  /// each ``Source/computed`` field, in the order of the fields.
  public typealias Compute = @Sendable (_ stored: borrowing Row, _ values: RowBuffer) throws -> Void

  /// The schema in the catalog before the change.
  public let stored: ModelSchema
  /// The schema in the catalog after the change, possibly with another name.
  public let target: ModelSchema
  /// The source of each field of ``target``, by position.
  public let sources: [Source]
  /// Computes the values of computed fields; nil if there are none.
  public let compute: Compute?
  /// The positions in ``stored`` of the fields that ``compute`` reads, ascending; the others may be nil in its row.
  public let computeSources: [Int]
  /// Whether new indexes that are not unique may wait for ``StorageTransaction/buildIndexes(of:)``; false by default.
  ///
  /// An engine that builds an index in a time that grows with the number of records leaves such an index unbuilt, unless
  /// the change rewrites the records (contract S9). It builds unique indexes with the change.
  public var defersIndexes = false

  /// Creates and validates a change.
  ///
  /// - Parameters:
  ///   - stored: The schema in the catalog.
  ///   - target: The schema afterwards.
  ///   - sources: The source of each field of `target`, by position.
  ///   - computeSources: The positions in `stored` of the fields that `compute` reads; by default all.
  ///   - compute: Computes the values of computed fields.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the primary key changes in
  ///   more than its names, a kind becomes narrower, a value has the wrong kind, or a source is missing.
  public init(
    from stored: ModelSchema, to target: ModelSchema, sources: [Source], computeSources: [Int]? = nil,
    compute: Compute? = nil
  ) throws {
    self.stored = stored
    self.target = target
    self.sources = sources
    self.compute = compute
    self.computeSources = computeSources?.sorted() ?? Array(stored.fields.indices)
    try validate()
  }

  /// Whether existing records keep their bytes in any format that identifies fields by position: every stored field
  /// keeps its position, kind and optionality, and new fields come last with a fill.
  package var onlyAppends: Bool {
    guard sources.count >= stored.fields.count else { return false }
    for (position, source) in sources.enumerated() {
      guard position >= stored.fields.count else {
        guard source == .field(position), target.fields[position].hasForm(of: stored.fields[position]) else {
          return false
        }
        continue
      }
      guard case .fill = source else { return false }
    }
    return true
  }

  /// The stored names of the indexes of ``target`` that exist before the change, by the positions of their fields:
  /// nil for each new index.
  ///
  /// An index exists if the stored schema has an index over the same stored fields with the same uniqueness.
  public var indexOrigins: [Int?] {
    target.indexes.map { index in
      let positions = index.fields.map { name -> Int? in
        guard let position = target.position(of: name), case .field(let origin, nil) = sources[position]
        else {
          return nil
        }
        return origin
      }
      return stored.indexes.firstIndex { other in
        other.isUnique == index.isUnique && other.fields.map { stored.position(of: $0) } == positions
      }
    }
  }

  /// The indexes of ``target`` that the change builds: new ones, without those that may wait.
  ///
  /// - Complexity: Linear in the number of indexes.
  public var indexesToBuild: [IndexSchema] {
    zip(target.indexes, indexOrigins).compactMap { index, origin in
      origin == nil && !mayDefer(index) ? index : nil
    }
  }

  /// Whether a new index of ``target`` may wait, if no record is rewritten: it is not unique, and no field of it gets
  /// computed or replaced values.
  ///
  /// - Parameter index: The index.
  /// - Returns: Whether it may wait.
  public func mayDefer(_ index: IndexSchema) -> Bool {
    guard defersIndexes, !index.isUnique else { return false }
    return index.fields.allSatisfy { name in
      switch target.position(of: name).map({ sources[$0] }) {
      case .field(_, nil), .fill: true
      default: false
      }
    }
  }

  private func validate() throws {
    guard sources.count == target.fields.count else {
      throw refusal("it has \(sources.count) sources for \(target.fields.count) fields")
    }
    for (field, source) in zip(target.fields, sources) {
      switch source {
      case .field(let position, let replacement):
        guard stored.fields.indices.contains(position) else {
          throw refusal("the source of “\(field.name)” is not a stored field")
        }
        let origin = stored.fields[position]
        guard field.kind.includes(origin.kind) else {
          throw refusal("“\(field.name)” cannot contain every \(origin.kind.rawValue) of “\(origin.name)”")
        }
        guard field.isOptional || !origin.isOptional || replacement != nil else {
          throw refusal("“\(field.name)” needs a value for records in which “\(origin.name)” is nil")
        }
        if let replacement { try check(replacement, field) }
      case .fill(let value): try check(value, field)
      case .computed:
        guard compute != nil else { throw refusal("nothing computes “\(field.name)”") }
      }
    }
    guard computeSources.allSatisfy(stored.fields.indices.contains) else {
      throw refusal("it computes from a field that is not stored")
    }
    let keySources = target.keyPositions.map { sources[$0] }
    guard keySources == stored.keyPositions.map({ .field($0) }),
      zip(target.keyPositions, stored.keyPositions).allSatisfy({
        target.fields[$0].kind == stored.fields[$1].kind
      })
    else { throw refusal("the fields of a primary key can only be renamed") }
  }

  private func check(_ value: PersistentValue, _ field: FieldSchema) throws {
    guard field.accepts(value) else { throw refusal("“\(field.name)” cannot contain \(value)") }
  }

  private func refusal(_ reason: String) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "\(stored.name) cannot become \(target.name): \(reason)", model: target.name)
  }
}

extension FieldSchema {
  /// Whether values of this field have the stored form of another field's values: kind and optionality agree, as far
  /// as cells show.
  func hasForm(of other: FieldSchema) -> Bool {
    kind.tag == other.kind.tag && isOptional == other.isOptional
  }

  /// Whether the field may contain a value.
  package func accepts(_ value: PersistentValue) -> Bool {
    if value.isNull { return isOptional }
    guard value.tag == kind.tag else { return false }
    guard case .integer(let number) = value, let range = kind.integerRange else { return true }
    return range.contains(number)
  }
}

extension FieldKind {
  /// Whether every value of another kind is a value of this kind, with the same stored form.
  package func includes(_ other: FieldKind) -> Bool {
    if self == other { return true }
    if let range = integerRange, let narrower = other.integerRange {
      return range.lowerBound <= narrower.lowerBound && narrower.upperBound <= range.upperBound
    }
    return (self == .double && other == .float) || (self == .string && other == .url)
  }
}

/// The cost of a change of schema (``StorageReader/cost(of:)``).
public enum EvolutionCost: Int, Sendable, Hashable, Comparable, Codable {
  /// The catalog changes; the time does not depend on the number of records.
  case catalog
  /// Indexes are built from all records with the change; no record is rewritten.
  case indexes
  /// Records are rewritten.
  case rewrite

  /// Whether one cost is lower than another.
  public static func < (left: EvolutionCost, right: EvolutionCost) -> Bool { left.rawValue < right.rawValue }
}
