import PersistenceDriver
import PersistenceDriverSupport

/// Loads one element of the tuples of an inclusion, for the records of a page.
struct RelatedLoading<Model: PersistentRecord, Loaded: Sendable>: Sendable {
  /// The models of all levels, as the code declares them.
  let models: [any PersistentRecord.Type]
  /// What is loaded, in the words of a server.
  let description: @Sendable () throws -> RelatedInclusion
  let load: @Sendable (_ models: [Model], _ reader: RelatedReader) throws -> [Loaded]
}

/// A property that refers to a record.
struct ReferenceProperty<Model, Value>: @unchecked Sendable  // the key path of a property captures nothing
where Model: PersistentRecord, Value: ReferenceValue {
  let keyPath: KeyPath<Model, Value>

  init(_ keyPath: KeyPath<Model, Value>) { self.keyPath = keyPath }

  /// The inclusion of the record that the property refers to.
  func inclusion(_ nested: [RelatedInclusion] = []) throws -> RelatedInclusion {
    RelatedInclusion(
      .target, field: Model.name(of: keyPath), model: try Value.Target.schema.model.name, including: nested)
  }

  /// The inclusion of the records whose property refers to a record.
  func referrers(_ predicate: PersistentPredicate<Model>, _ nested: [RelatedInclusion] = []) throws
    -> RelatedInclusion
  {
    RelatedInclusion(
      .referrers, field: Model.name(of: keyPath), model: try Model.schema.model.name,
      where: try predicate.requestedNode(), including: nested)
  }

  /// The inclusion of the records whose property refers to a record, in an order.
  func referrers(_ options: FetchOptions<Model>, _ nested: [RelatedInclusion] = []) throws -> RelatedInclusion
  {
    guard !options.isRelated else {
      throw PersistenceError(
        .unsupported,
        "a server does not include records by a condition or an order of other records; include all of them, and filter "
          + "and sort the result", model: try Model.schema.model.name, field: Model.name(of: keyPath))
    }
    return try referrers(options.predicate, nested)
  }

  /// The key of the record that a model refers to; nil if it refers to none.
  func key(of model: Model) -> PersistentValue? { model[keyPath: keyPath].reference?.persistentValue }

  /// The records that some models refer to.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` if one is required and missing.
  func targets(of models: [Model], isRequired: Bool, _ reader: RelatedReader) throws
    -> RelatedTargets<Value.Target>
  {
    // Each key path is followed once, which costs more than the rest.
    let keys = models.map { key(of: $0) }
    let unique = Set(keys.lazy.compactMap(\.self))
    let records = try reader.records(Value.Target.self, keys: unique)
    if isRequired, records.count < unique.count {
      for (model, key) in zip(models, keys) {
        if let key, records[key] == nil { throw missing(key, of: model) }
      }
    }
    return RelatedTargets(keys: keys, records: records)
  }

  /// The error of an included record that the store does not contain.
  func missing(_ key: PersistentValue, of model: Model) -> PersistenceError {
    let target = (try? Value.Target.schema.model.name) ?? "\(Value.Target.self)"
    let field = Model.name(of: keyPath)
    return PersistenceError(
      .brokenReference,
      "“\(field)” refers to \(target) \(key), which the store does not contain; use including(ifPresent:) in a store that "
        + "does not check references", model: try? Model.schema.model.name, field: field, key: model.recordKey
    )
  }
}

/// The records that some models refer to.
struct RelatedTargets<Target> {
  /// The key that each model refers to; nil for none.
  let keys: [PersistentValue?]
  /// The records by their keys.
  let records: [PersistentValue: Target]

  subscript(index: Int) -> Target? { keys[index].flatMap { records[$0] } }
}

extension RelatedLoading {
  /// The records that a property refers to; optional ones if the property is.
  static func referring<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Included {
    let property = ReferenceProperty(property)
    return RelatedLoading(models: [Value.target], description: { try property.inclusion() }) {
      models, reader in
      let targets = try property.targets(of: models, isRequired: true, reader)
      return try models.indices.map { index in
        guard let included = Value.included(targets[index]) else {
          throw property.missing(targets.keys[index] ?? .null, of: models[index])
        }
        return included
      }
    }
  }

  /// The records that a property refers to, or nil where the store does not contain them.
  static func referringIfPresent<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Target? {
    let property = ReferenceProperty(property)
    return RelatedLoading(models: [Value.target], description: { try property.inclusion() }) {
      models, reader in
      let targets = try property.targets(of: models, isRequired: false, reader)
      return models.indices.map { targets[$0] }
    }
  }

  /// The records that a property refers to, with what belongs to them.
  static func nested<Value: ReferenceValue, Nested: Sendable>(
    by property: KeyPath<Model, Value>, _ inner: Inclusion<Value.Target, Nested>
  ) -> RelatedLoading where Loaded == Nested? {
    let property = ReferenceProperty(property)
    return RelatedLoading(
      models: [Value.target] + inner.related, description: { try property.inclusion(inner.described()) }
    ) { models, reader in
      let targets = try property.targets(of: models, isRequired: true, reader)
      let records = Array(targets.records)
      let elements = try inner.load(records.map(\.value), reader)
      let loaded = Dictionary(uniqueKeysWithValues: zip(records.map(\.key), elements))
      return targets.keys.map { $0.flatMap { loaded[$0] } }
    }
  }

  /// The elements of another loading, none of which is nil.
  static func required(_ loading: RelatedLoading<Model, Loaded?>) -> RelatedLoading {
    RelatedLoading(models: loading.models, description: loading.description) { models, reader in
      try loading.load(models, reader).compactMap(\.self)
    }
  }
}

extension RelatedLoading where Model.PrimaryKey: PersistentValueConvertible {
  /// The records of another model that refer to the record.
  static func all<Other: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Other] {
    let property = ReferenceProperty(property)
    return RelatedLoading(
      models: [Other.self] + options.related, description: { try property.referrers(options) }
    ) { models, reader in
      try reader.lists(property, models.map(\.primaryKey.persistentValue), options)
    }
  }

  /// The records of another model that refer to the record, with what belongs to them.
  static func all<Other: PersistentRecord, Value: ReferenceValue, Nested: Sendable>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>, _ inner: Inclusion<Other, Nested>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Nested] {
    let property = ReferenceProperty(property)
    return RelatedLoading(
      models: [Other.self] + options.related + inner.related,
      description: { try property.referrers(options, inner.described()) }
    ) { models, reader in
      let lists = try reader.lists(property, models.map(\.primaryKey.persistentValue), options)
      // One request for what belongs to all of the page's records.
      var rest = try inner.load(Array(lists.joined()), reader)[...]
      return lists.map { list in
        defer { rest = rest.dropFirst(list.count) }
        return Array(rest.prefix(list.count))
      }
    }
  }

  /// The number of records of another model that refer to the record.
  static func count<Other: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Other, Value>, _ predicate: PersistentPredicate<Other>
  ) -> RelatedLoading where Value.Target == Model, Loaded == Int {
    let property = ReferenceProperty(property)
    return RelatedLoading(
      models: [Other.self] + predicate.related,
      description: { try property.referrers(FetchOptions(predicate: predicate)) }
    ) { models, reader in
      let keys = models.map(\.primaryKey.persistentValue)
      let counts = try reader.counts(property, Set(keys), predicate)
      return keys.map { counts[$0] ?? 0 }
    }
  }
}
