package import PersistenceCore
import Synchronization

/// A small third-party object-graph framework, whose context keeps objects by identity, not rows.
///
/// It does not use the driver module. A transaction saves the objects' earlier state, and restores it if the
/// closure throws.
package final class ObjectGraph: TransactionalContext {
  private let objects = Mutex<[ObjectIdentifier: [Int: GraphObject.Properties]]>([:])

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
    objects.withLock { objects in for one in properties { objects[type, default: [:]][one.number] = one } }
  }

  func remove(_ number: Int, _ type: ObjectIdentifier) -> Bool {
    objects.withLock { $0[type]?.removeValue(forKey: number) != nil }
  }

  func removeAll(_ type: ObjectIdentifier) { objects.withLock { $0[type] = nil } }
}

/// The framework's record of an object.
package enum GraphObject {
  package struct Properties: Sendable {
    package var number: Int
    package var title: String
  }
}
