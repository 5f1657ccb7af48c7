package import PersistenceCore
import Synchronization

/// A small object-graph framework of another author: its context holds objects by identity, not rows.
///
/// It knows nothing of drivers. A transaction remembers the objects as they were, and puts them back where the
/// closure throws.
package final class ObjectGraph: TransactionalContext {
  private let objects = Mutex<[ObjectIdentifier: [Int: GraphObject.Properties]]>([:])

  /// Makes an empty graph.
  package init() {}

  package func transaction(_ body: (any PersistentContext) throws -> Void) throws {
    let before = objects.withLock { $0 }
    do {
      try body(self)
    } catch {
      objects.withLock { $0 = before }
      throw error
    }
  }

  func all(_ type: ObjectIdentifier) -> [GraphObject.Properties] {
    objects.withLock { ($0[type] ?? [:]).values.sorted { $0.number < $1.number } }
  }

  func put(_ properties: [GraphObject.Properties], _ type: ObjectIdentifier) {
    objects.withLock { objects in
      for one in properties { objects[type, default: [:]][one.number] = one }
    }
  }

  func remove(_ number: Int, _ type: ObjectIdentifier) -> Bool {
    objects.withLock { $0[type]?.removeValue(forKey: number) != nil }
  }

  func removeAll(_ type: ObjectIdentifier) { objects.withLock { $0[type] = nil } }
}

/// What the framework keeps of an object.
package enum GraphObject {
  /// The properties of an object.
  package struct Properties: Sendable {
    /// Which object.
    package var number: Int
    /// What it is called.
    package var title: String
  }
}
