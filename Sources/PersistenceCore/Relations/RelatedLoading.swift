public import PersistenceDriver

/// Loads one element of the tuples of an inclusion, for the records of a page.
@usableFromInline
struct RelatedLoading<Model: PersistentRecord, Loaded: Sendable>: Sendable {
  /// What it loads.
  @usableFromInline let outline: InclusionOutline

  /// Loads the elements for a page, and returns a closure that makes the element of the record at a position.
  @usableFromInline let load:
    @Sendable (_ page: RelatedPage<Model>, _ reader: RelatedReader) throws -> (Int) -> Loaded

  @inlinable
  init(
    _ outline: InclusionOutline,
    load: @escaping @Sendable (_ page: RelatedPage<Model>, _ reader: RelatedReader) throws -> (Int) -> Loaded
  ) {
    self.outline = outline
    self.load = load
  }
}

// The bodies are inlinable, so that the loops over a page are specialized for the models of the app.

extension RelatedLoading {
  /// The records that a property refers to; optional ones if the property is.
  @inlinable
  static func referring<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Included {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline()) { page, reader in
      let targets = try property.targets(of: page, with: .nothing, reader)
      return { Value.included(targets.page.models, at: targets.places[$0]) }
    }
  }

  /// The records that a property refers to, or nil where the store does not contain them.
  @inlinable
  static func referringIfPresent<Value: ReferenceValue>(by property: KeyPath<Model, Value>) -> RelatedLoading
  where Loaded == Value.Target? {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline()) { page, reader in
      let targets = try property.presentTargets(of: page, reader)
      return { targets.places[$0] < 0 ? nil : targets.page.models[targets.places[$0]] }
    }
  }

  /// The records that a property refers to, with what belongs to them.
  @inlinable
  static func nested<Target: PersistentRecord>(
    by property: KeyPath<Model, Reference<Target>>, _ inner: Inclusion<Target, Loaded>
  ) -> RelatedLoading {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline(inner.outline)) { page, reader in
      let targets = try property.targets(of: page, with: inner.outline, reader)
      let element = try inner.load(targets.page, reader)
      return { element(targets.places[$0]) }
    }
  }

  /// The records that an optional property refers to, with what belongs to them.
  @inlinable
  static func nested<Target: PersistentRecord, Nested: Sendable>(
    by property: KeyPath<Model, Reference<Target>?>, _ inner: Inclusion<Target, Nested>
  ) -> RelatedLoading where Loaded == Nested? {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline(inner.outline)) { page, reader in
      let targets = try property.targets(of: page, with: inner.outline, reader)
      let element = try inner.load(targets.page, reader)
      return { targets.places[$0] < 0 ? nil : element(targets.places[$0]) }
    }
  }
}

extension RelatedLoading where Model.PrimaryKey: PersistentValueConvertible {
  /// The records of another model that refer to the record.
  @inlinable
  static func all<Other: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Other] {
    all(property, options, Inclusion(nil))
  }

  /// The records of another model that refer to the record, with what belongs to them.
  @inlinable
  static func all<Other: PersistentRecord, Value: ReferenceValue, Nested: Sendable>(
    _ property: KeyPath<Other, Value>, _ options: FetchOptions<Other>, _ inner: Inclusion<Other, Nested>
  ) -> RelatedLoading where Value.Target == Model, Loaded == [Nested] {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline(options, inner.outline)) { page, reader in
      // One request for what belongs to all of the page's records.
      let others = try property.referrers(to: page, options, inner.outline, reader)
      let element = try inner.load(others.page, reader)
      return { others.positions[$0].map(element) }
    }
  }

  /// The number of records of another model that refer to the record.
  @usableFromInline
  static func count<Other: PersistentRecord, Value: ReferenceValue>(
    _ property: KeyPath<Other, Value>, _ predicate: PersistentPredicate<Other>
  ) -> RelatedLoading where Value.Target == Model, Loaded == Int {
    let property = ReferenceProperty(property)
    return RelatedLoading(property.outline(FetchOptions(predicate: predicate), isLong: false)) {
      page, reader in
      let keys = page.values(at: try Model.schema.model.keyPositions[0])
      let counts = try reader.counts(property, keys, predicate)
      return { counts[keys[$0]] ?? 0 }
    }
  }
}
