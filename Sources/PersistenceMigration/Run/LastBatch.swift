import PersistenceDriver

/// The records of the last transaction of an interrupted migration, looked up in the destination one by one.
struct LastBatch {
  private let migration: Migration
  private let route: ModelRoute
  private let snapshot: any StorageSnapshot

  init(_ migration: Migration, _ route: ModelRoute, _ snapshot: any StorageSnapshot) {
    self.migration = migration
    self.route = route
    self.snapshot = snapshot
  }

  /// Makes sure that the records are there, with their values, but for those that were put aside or skipped.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationChanged``.
  func check(_ entry: LedgerEntry, in destination: any StorageSnapshot) throws {
    let rejected = try rejectedPositions(of: entry, in: destination)
    let queue = BatchQueue(fieldCount: route.destination.fields.count)
    let reading = SourceReading(
      route: route, snapshot: snapshot, queue: queue, options: migration.options,
      start: ReadingPlace(key: entry.keyBeforeBatch), limit: migration.options.batchSize)
    let reader = BackgroundThread("persistence migration") { reading.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    let first = try position(behind: entry.keyBeforeBatch)
    var isFinished = false
    while !isFinished {
      let batch = try queue.pop()
      for index in 0..<batch.count where !isFinished {
        try batch.withRow(index) { row in
          let position = first + batch.position(of: index)
          isFinished = position >= entry.place.position
          if !isFinished, !rejected.contains(position) { try check(row, entry, destination) }
        }
      }
      isFinished = isFinished || batch.endsModel
      queue.giveBack(batch)
    }
  }

  private func rejectedPositions(of entry: LedgerEntry, in reader: any StorageReader) throws -> Set<Int> {
    var (positions, done, isFinished): (Set<Int>, Int, Bool) = ([], 0, false)
    while !isFinished {
      let rejects = try RejectStore.read(from: reader, after: done, limit: RejectStore.page)
      let own = rejects.filter { StoredName($0.model) == StoredName(entry.model) }
      positions.formUnion(own.map(\.position))
      done += rejects.count
      isFinished = rejects.count < RejectStore.page
    }
    return positions
  }

  private func position(behind key: RecordKey?) throws -> Int {
    guard let key else { return 0 }
    let all = try snapshot.count(try FetchRequest(route.source))
    return all - (try snapshot.count(try FetchRequest(route.source, after: PageAnchor(key.values))))
  }

  private func check(_ row: borrowing Row, _ entry: LedgerEntry, _ destination: any StorageReader) throws {
    let schema = route.destination
    let key = try RecordKey(of: row, in: schema)
    let values = try row.values()
    var isAlike = false
    let isThere = try destination.find(key, in: schema) { found in
      isAlike = try entry.counts.skipped > 0 || found.values() == values
    }
    guard isThere, isAlike else {
      throw PersistenceError.destinationChanged(
        schema.name, "the record \(key) \(isThere ? "has other values" : "is gone")",
        location: migration.destination.location)
    }
  }
}
