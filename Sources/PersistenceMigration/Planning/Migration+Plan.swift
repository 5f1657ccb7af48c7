import Foundation
import PersistenceDriver
import PersistenceDriverSupport

extension Migration {
  /// Says what a run would do, by reading the source from one snapshot; nothing is written anywhere.
  ///
  /// Every record is read and held against the mapping and the destination's capabilities, so that what the destination
  /// cannot hold as it is, is counted and not guessed.
  ///
  /// - Parameter progress: Told how far the reading has come; what it throws stops it and is thrown on.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError`` where a store cannot be read, or the options name what there is not.
  public func plan(_ progress: (MigrationProgress) throws -> Void = { _ in }) throws -> MigrationPlan {
    let start = ContinuousClock.now
    try source.requireComplete()
    let snapshot = try source.snapshot()
    let schemas = try chosenModels(of: snapshot.catalog())
    try options.mapping.check(against: schemas)
    let present = try destinationCounts()
    let models = try schemas.map { schema in
      try lookAt(schema, in: snapshot, present: present, progress)
    }
    let seconds = (ContinuousClock.now - start).timeInterval
    var plan = MigrationPlan(
      models: models, unmappedObjects: try unmappedObjects(of: snapshot, besides: schemas),
      estimate: MigrationPlan.Estimate(
        bytes: models.reduce(0) { $0 + Self.roughSize($1) }, free: FreeSpace.bytes(at: destination),
        seconds: seconds * 3,
        basis:
          "space by the values' bytes with an allowance for records and indexes, time as three times that of "
          + "this reading"))
    plan.isInterrupted = try isInterrupted()
    return plan
  }

  /// The models of the source that are copied.
  ///
  /// - Parameter catalog: The source's models.
  /// - Returns: Those that the options name; all of them where they name none.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where the source does not hold
  ///   one of them.
  func chosenModels(of catalog: [ModelSchema]) throws -> [ModelSchema] {
    let own = catalog.filter { !ReservedModel.isReserved($0.name) }
    guard let names = options.models else { return own }
    for name in names where !own.contains(where: { StoredName($0.name) == StoredName(name) }) {
      let known = own.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the source holds no model “\(name)”; it holds \(own.isEmpty ? "none" : known)")
    }
    let chosen = Set(names.map(StoredName.init))
    return own.filter { chosen.contains(StoredName($0.name)) }
  }

  /// What the source has that the models which are copied do not say.
  ///
  /// - Parameters:
  ///   - snapshot: The source.
  ///   - schemas: The models that are copied.
  /// - Returns: The unmappedObjects; where models were chosen, those of others are no news.
  /// - Throws: ``PersistenceError`` where the source cannot be read.
  func unmappedObjects(of snapshot: any StorageSnapshot, besides schemas: [ModelSchema]) throws
    -> [UnmappedObject]
  {
    let unmappedObjects = try snapshot.unmappedObjects()
    guard options.models != nil else { return unmappedObjects }
    let chosen = Set(schemas.map { StoredName($0.name) })
    return unmappedObjects.filter { omission in
      omission.model.map { chosen.contains(StoredName($0)) } ?? false
    }
  }

  private func isInterrupted() throws -> Bool {
    do {
      try destination.requireComplete()
      return false
    } catch let error as PersistenceError where error.code == .incompleteStore {
      return true
    }
  }

  private func destinationCounts() throws -> [StoredName: Int] {
    var counts: [StoredName: Int] = [:]
    for schema in try destination.catalog() where !ReservedModel.isReserved(schema.name) {
      counts[StoredName(schema.name)] = try destination.count(try FetchRequest(schema))
    }
    return counts
  }

  private func lookAt(
    _ schema: ModelSchema, in snapshot: any StorageSnapshot, present: [StoredName: Int],
    _ progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationPlan.Model {
    let mapper = try RecordMapper(options.mapping, schema, allowsLoss: true)
    var counter = LossCounter(mapper, for: destination.capabilities)
    var (records, bytes) = (0, 0)
    try RecordScan(schema, in: snapshot).run(progress) { outcome in
      records += 1
      switch outcome {
      case .unreadable(let error): counter.note(unreadable: error)
      case .read: break
      }
    } reading: { row in
      bytes += row.approximateSize
      try counter.note(row)
    }
    return MigrationPlan.Model(
      name: schema.name, destinationName: mapper.destination.name, records: records, bytes: bytes,
      fields: fields(of: mapper), droppedIndexes: mapper.droppedIndexes, losses: counter.found,
      present: present[StoredName(mapper.destination.name)] ?? 0)
  }

  private func fields(of mapper: RecordMapper) -> [MigrationPlan.Field] {
    mapper.source.fields.enumerated().map { position, field in
      let place = mapper.steps.firstIndex { $0.position == position }
      let target = place.map { mapper.destination.fields[$0] }
      let rules = options.mapping.rules.filter {
        StoredName($0.model) == StoredName(mapper.source.name)
          && StoredName($0.field) == StoredName(field.name)
      }
      return MigrationPlan.Field(
        name: field.name, kind: Self.kind(field), destinationName: target?.name,
        destinationKind: target.map(Self.kind), isKey: mapper.source.keyPositions.contains(position),
        rules: rules.map { "\($0.action)" })
    }
  }

  private static func kind(_ field: FieldSchema) -> String {
    field.kind.rawValue + (field.isOptional ? "?" : "")
  }

  /// The values, a few words for each record, and an entry for each of the fields once more, as if half were indexed.
  private static func roughSize(_ model: MigrationPlan.Model) -> Int {
    model.bytes + model.bytes / 2 + model.records * 48 + 65_536
  }
}
