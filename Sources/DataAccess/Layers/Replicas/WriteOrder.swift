import PersistenceDriver

/// The order of an answer and the writes of a layered data source, in one layer.
///
/// Use it where no other refresh or write of the layer can interleave.
struct WriteOrder: Sendable {
  private let reading: WriteLog.Reading
  private let writes: WriteLog
  private let layer: DataSourceLayer

  init(_ reading: WriteLog.Reading, in writes: WriteLog, for layer: DataSourceLayer) {
    (self.reading, self.writes, self.layer) = (reading, writes, layer)
  }

  /// Whether the answer is that of the top layer.
  var isOfTop: Bool { reading.isOfTop }

  /// Whether the layer has stored a newer answer, which makes this one obsolete.
  var isOutdated: Bool { writes.isOutdated(reading, in: layer) }

  /// The layer's state of a key, compared with the answer.
  func state(of key: RecordKey) -> WriteLog.HeldState { writes.state(of: key, in: layer, for: reading) }

  /// Marks that the layer has stored the answer, for a key or for a query.
  func markStored(_ key: RecordKey?) { writes.stored(reading, of: key, in: layer) }
}
