import PersistenceDriver

/// What the source holds of a model, up to a record: its digest as the destination is to have it.
struct SourceContent {
  var digest = ContentDigest()
  var lastKey: RecordKey?

  /// Reads the first records of a model, as copying them does.
  ///
  /// - Parameters:
  ///   - route: The model.
  ///   - snapshot: The source.
  ///   - options: What copying goes by.
  ///   - limit: How many records there are; all of them where it is nil.
  ///   - progress: Told how many were read.
  /// - Returns: What was found.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  static func read(
    _ route: ModelRoute, _ snapshot: any StorageSnapshot, _ options: MigrationOptions, limit: Int?,
    _ progress: (Int) throws -> Void
  ) throws -> SourceContent {
    let queue = BatchQueue(fieldCount: route.destination.fields.count)
    let reading = SourceReading(
      route: route, snapshot: snapshot, queue: queue, options: options, start: ReadingPlace(), limit: limit)
    let reader = BackgroundThread("persistence migration") { reading.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    let digester = RecordDigester(route.destination)
    var (content, done, isFinished) = (SourceContent(), 0, false)
    while !isFinished {
      let batch = try queue.pop()
      content.digest.add(batch.digest(by: digester))
      if batch.endsTransaction { content.lastKey = batch.lastKey }
      done += batch.count + batch.failures.count
      let tells = batch.endsTransaction
      isFinished = batch.endsModel
      queue.giveBack(batch)
      if tells { try progress(done) }
    }
    return content
  }
}
