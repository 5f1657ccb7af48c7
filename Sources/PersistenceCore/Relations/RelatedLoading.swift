import PersistenceDriver

/// Loads one element of the tuples of an inclusion, for the records of a page.
struct RelatedLoading<Model: PersistentRecord, Loaded: Sendable>: Sendable {
  let load: @Sendable (_ models: [Model], _ reader: RelatedReader) throws -> [Loaded]
}

/// A property that refers to a record.
struct ReferenceProperty<Model, Value>: @unchecked Sendable  // the key path of a property captures nothing
where Model: PersistentRecord, Value: ReferenceValue {
  let keyPath: KeyPath<Model, Value>

  init(_ keyPath: KeyPath<Model, Value>) { self.keyPath = keyPath }

  /// The key of the record that a model refers to; nil if it refers to none.
  func key(of model: Model) -> PersistentValue? { model[keyPath: keyPath].reference?.persistentValue }

  /// The records that some models refer to, by their keys.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference`` if one is required and missing.
  func targets(of models: [Model], isRequired: Bool, _ reader: RelatedReader) throws
    -> [PersistentValue: Value.Target]
  {
    let keys = Set(models.compactMap(key))
    let records = try reader.records(Value.Target.self, keys: keys)
    guard isRequired, records.count < keys.count else { return records }
    for model in models {
      guard let key = key(of: model), records[key] == nil else { continue }
      throw missing(key, of: model)
    }
    return records
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

extension RelatedLoading {
  /// The records that a property refers to; optional ones if the property is.
  static func referring<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Included {
    let property = ReferenceProperty(property)
    return RelatedLoading { models, reader in
      let records = try property.targets(of: models, isRequired: true, reader)
      return try models.map { model in
        let key = property.key(of: model)
        guard let included = Value.included(key.flatMap { records[$0] }) else {
          throw property.missing(key ?? .null, of: model)
        }
        return included
      }
    }
  }

  /// The records that a property refers to, or nil where the store does not contain them.
  static func referringIfPresent<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Target? {
    let property = ReferenceProperty(property)
    return RelatedLoading { models, reader in
      let records = try property.targets(of: models, isRequired: false, reader)
      return models.map { property.key(of: $0).flatMap { records[$0] } }
    }
  }

  /// The records that a property refers to, with what belongs to them.
  static func nested<Value: ReferenceValue, Nested: Sendable>(
    by property: KeyPath<Model, Value>, _ inner: Inclusion<Value.Target, Nested>
  ) -> RelatedLoading where Loaded == Nested? {
    let property = ReferenceProperty(property)
    return RelatedLoading { models, reader in
      let records = Array(try property.targets(of: models, isRequired: true, reader))
      let elements = try inner.load(records.map(\.value), reader)
      let loaded = Dictionary(uniqueKeysWithValues: zip(records.map(\.key), elements))
      return models.map { property.key(of: $0).flatMap { loaded[$0] } }
    }
  }

  /// The elements of another loading, none of which is nil.
  static func required(_ loading: RelatedLoading<Model, Loaded?>) -> RelatedLoading {
    RelatedLoading { models, reader in try loading.load(models, reader).compactMap(\.self) }
  }
}

extension RelatedLoading where Model.PrimaryKey: PersistentValueConvertible {
  /// The records of another model that refer to the record.
  static func all<Other: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Other] {
    let property = ReferenceProperty(property)
    return RelatedLoading { models, reader in
      try reader.lists(property, models.map(\.primaryKey.persistentValue), options)
    }
  }

  /// The records of another model that refer to the record, with what belongs to them.
  static func all<Other: PersistentRecord, Value: ReferenceValue, Nested: Sendable>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>, _ inner: Inclusion<Other, Nested>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Nested] {
    let property = ReferenceProperty(property)
    return RelatedLoading { models, reader in
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
    return RelatedLoading { models, reader in
      let keys = models.map(\.primaryKey.persistentValue)
      let counts = try reader.counts(property, Set(keys), predicate)
      return keys.map { counts[$0] ?? 0 }
    }
  }
}
