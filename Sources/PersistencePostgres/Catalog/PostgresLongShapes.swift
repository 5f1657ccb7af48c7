import Synchronization

/// The shapes of requests whose rows exceeded what one statement reads, when they were last read.
///
/// A shape is the hash of a statement without its values. Equal hashes of two shapes cost a statement, and no row.
struct PostgresLongShapes: ~Copyable, Sendable {
  private let shapes = Mutex<Set<UInt64>>([])

  /// How many shapes to remember; the memory is emptied when it is full, which is rare.
  private static let limit = 256

  func contains(_ shape: UInt64) -> Bool { shapes.withLock { $0.contains(shape) } }

  /// Notes whether the rows of a shape exceeded the limit.
  func note(_ shape: UInt64, isLong: Bool) {
    shapes.withLock { shapes in
      guard isLong else {
        shapes.remove(shape)
        return
      }
      if shapes.count >= Self.limit { shapes.removeAll() }
      shapes.insert(shape)
    }
  }
}
