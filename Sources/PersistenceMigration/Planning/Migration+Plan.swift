import Foundation
public import PersistenceDriver
import PersistenceDriverSupport

extension Migration {
  /// Plans a run without writing anything: reads every record of a source snapshot.
  ///
  /// The plan checks each record against the mapping and the destination's capabilities, so its losses are counts, not
  /// estimates.
  ///
  /// - Parameter progress: A closure that receives the progress. If it throws, planning stops and rethrows the error.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError`` if a store cannot be read, or the options name an unknown model or field.
  public func plan(_ progress: (StoreProgress) throws -> Void = { _ in }) throws -> MigrationPlan {
    let start = ContinuousClock.now
    try source.requireComplete()
    let snapshot = try source.snapshot().hidingRemovedFields()
    let schemas = try chosenModels(of: snapshot.catalog())
    try options.mapping.check(against: schemas)
    let present = try destinationCounts()
    let models = try schemas.map { schema in
      try modelPlan(schema, in: snapshot, present: present, progress)
    }
    let seconds = (ContinuousClock.now - start).timeInterval
    var plan = MigrationPlan(
      models: models, unmappedObjects: try unmappedObjects(of: snapshot, besides: schemas),
      estimate: MigrationPlan.Estimate(
        bytes: models.reduce(0) { $0 + Self.estimatedSize($1) },
        free: destination.capabilities.hasFiles ? FreeSpace.bytes(at: destination.location) : nil,
        seconds: seconds * 3,
        basis:
          "space from the size of the values plus overhead for records and indexes, time as three times that of "
          + "this scan"))
    plan.isInterrupted = try isInterrupted()
    return plan
  }

  /// Selects the models to copy: those that the options name, or all.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the source lacks a named model.
  func chosenModels(of catalog: [ModelSchema]) throws -> [ModelSchema] {
    if options.copiesEverything { return catalog.filter { !Ledger.isOwn($0) } }
    let own = catalog.filter { !$0.isReserved }
    guard let names = options.models else { return own }
    for name in names where !own.contains(where: { StoredName($0.name) == StoredName(name) }) {
      let known = own.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the source has no model “\(name)”; its models are \(own.isEmpty ? "none" : known)")
    }
    let chosen = Set(names.map(StoredName.init))
    return own.filter { chosen.contains(StoredName($0.name)) }
  }

  /// Lists the source's unmapped objects; if the options name models, only the objects of those models.
  func unmappedObjects(of snapshot: any StorageSnapshot, besides schemas: [ModelSchema]) throws
    -> [UnmappedObject]
  {
    let unmappedObjects = try snapshot.unmappedObjects()
    guard options.models != nil else { return unmappedObjects }
    let chosen = Set(schemas.map { StoredName($0.name) })
    return unmappedObjects.filter { object in
      object.model.map { chosen.contains(StoredName($0)) } ?? false
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
    for schema in try destination.catalog() where !schema.isReserved {
      counts[StoredName(schema.name)] = try destination.count(try FetchRequest(schema))
    }
    return counts
  }

  private func modelPlan(
    _ schema: ModelSchema, in snapshot: any StorageSnapshot, present: [StoredName: Int],
    _ progress: (StoreProgress) throws -> Void
  ) throws -> MigrationPlan.Model {
    let mapper = try RecordMapper(options.mapping, schema, allowsLoss: true)
    var counter = LossCounter(mapper, for: destination.capabilities)
    var (records, bytes) = (0, 0)
    try RecordScan(schema: schema, reader: snapshot).run(progress) { row in
      records += 1
      bytes += row.approximateSize
      try counter.note(row)
    } unreadable: { error in
      records += 1
      counter.note(unreadable: error)
    }
    return MigrationPlan.Model(
      name: schema.name, destinationName: mapper.destination.name, records: records, bytes: bytes,
      fields: fields(of: mapper), droppedIndexes: mapper.droppedIndexes, losses: counter.found,
      present: present[StoredName(mapper.destination.name)] ?? 0)
  }

  private func fields(of mapper: RecordMapper) -> [MigrationPlan.Field] {
    mapper.source.fields.enumerated().map { position, field in
      let index = mapper.steps.firstIndex { $0.position == position }
      let target = index.map { mapper.destination.fields[$0] }
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

  /// The values, overhead per record, and index entries for half of the values.
  private static func estimatedSize(_ model: MigrationPlan.Model) -> Int {
    model.bytes + model.bytes / 2 + model.records * 48 + 65_536
  }
}

/// The free disk space at a store's location.
package enum FreeSpace {
  /// The free bytes at a path, which need not exist.
  package static func bytes(at path: String) -> Int? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
    var status = statvfs()
    guard statvfs(url.path, &status) == 0 else { return nil }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }
}
