import PersistenceDriver
import PersistenceDriverSupport

/// A property that refers to a record.
@usableFromInline
struct ReferenceProperty<Model, Value>: @unchecked Sendable  // the key path of a property captures nothing
where Model: PersistentRecord, Value: ReferenceValue {
  @usableFromInline let keyPath: KeyPath<Model, Value>

  @inlinable
  init(_ keyPath: KeyPath<Model, Value>) { self.keyPath = keyPath }

  /// The stored name of the property.
  var name: String { Model.name(of: keyPath) }

  /// The position of the field.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField``.
  func position() throws -> Int {
    let schema = try Model.schema.model
    guard let position = schema.position(of: name) else {
      throw PersistenceError.unknownField(name, in: schema)
    }
    return position
  }
}

// What an inclusion has of a property.

extension ReferenceProperty {
  /// The inclusion of the records that the property refers to, with what belongs to them.
  @usableFromInline
  func outline(_ nested: InclusionOutline = .nothing) -> InclusionOutline {
    InclusionOutline(
      models: [Value.target] + nested.models,
      descriptions: [
        {
          RelatedInclusion(
            .target, field: name, model: try Value.Target.schema.model.name, including: try nested.described()
          )
        }
      ], fields: [position], isLong: nested.isLong)
  }

  /// The inclusion of the records whose property refers to a record, with what belongs to them.
  @usableFromInline
  func outline(
    _ options: FetchOptions<Model>, _ nested: InclusionOutline = .nothing, isLong: Bool = true
  ) -> InclusionOutline {
    InclusionOutline(
      models: [Model.self] + options.related + nested.models,
      descriptions: [
        {
          guard !options.isRelated else {
            throw PersistenceError(
              .unsupported,
              "a server does not include records by a condition or an order of other records; include all of them, and "
                + "filter and sort the result", model: try Model.schema.model.name, field: name)
          }
          return RelatedInclusion(
            .referrers, field: name, model: try Model.schema.model.name,
            where: try options.predicate.requestedNode(), including: try nested.described())
        }
      ], fields: [{ try Value.Target.schema.model.keyPositions[0] }], isLong: isLong)
  }
}

// The records that an inclusion reads.

extension ReferenceProperty {
  /// The records that those of a page refer to, each once.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` if one is missing.
  @usableFromInline
  func targets(of page: RelatedPage<Model>, with nested: InclusionOutline, _ reader: RelatedReader) throws
    -> RelatedTargets<Value.Target>
  {
    let values = page.values(at: try position())
    let targets = try reader.targets(Value.Target.self, of: values, fields: nested.positions())
    for (position, place) in targets.places.enumerated() where place < 0 {
      guard Value.isOptionalReference, values[position] == .null else {
        throw missing(values[position], of: page.models[position])
      }
    }
    return targets
  }

  /// The records that those of a page refer to, each once, as far as the store contains them.
  @usableFromInline
  func presentTargets(of page: RelatedPage<Model>, _ reader: RelatedReader) throws
    -> RelatedTargets<Value.Target>
  {
    try reader.targets(Value.Target.self, of: page.values(at: try position()), fields: [])
  }

  /// The records whose property refers to those of a page, and for each of these the positions of its own.
  @usableFromInline
  func referrers(
    to page: RelatedPage<Value.Target>, _ options: FetchOptions<Model>, _ nested: InclusionOutline,
    _ reader: RelatedReader
  ) throws -> (page: RelatedPage<Model>, positions: [[Int]]) {
    let keys = page.values(at: try Value.Target.schema.model.keyPositions[0])
    let field = try position()
    let others = try reader.referrers(
      Model.self, by: field, to: keys, options, fields: [field] + nested.positions())
    var positions: [PersistentValue: [Int]] = Dictionary(minimumCapacity: keys.count)
    for (position, key) in others.values(at: field).enumerated() {
      positions[key, default: []].append(position)
    }
    return (others, keys.map { positions[$0] ?? [] })
  }

  /// The error of an included record that the store does not contain.
  @usableFromInline
  func missing(_ key: PersistentValue, of model: Model) -> PersistenceError {
    let target = (try? Value.Target.schema.model.name) ?? "\(Value.Target.self)"
    return PersistenceError(
      .brokenReference,
      "“\(name)” refers to \(target) \(key), which the store does not contain; use including(ifPresent:) in a store that "
        + "does not check references", model: try? Model.schema.model.name, field: name, key: model.recordKey
    )
  }
}
