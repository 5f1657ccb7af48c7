import Synchronization

/// The copies that fill one store, for all contexts of this process that have it open.
///
/// A copy through one context ends what the others have found out before: that the store is complete.
final class StoreFills: Sendable {
  private struct Known {
    struct Weak {
      weak let fills: StoreFills?
    }

    var stores: [String: Weak] = [:]
    /// How many entries there are when those of closed stores are removed next.
    var limit = 64
  }

  private static let known = Mutex(Known())

  /// How many copies have begun, and one; so 0 stands for the time before.
  let begun = Atomic<UInt64>(1)
  private let running = Atomic<Int>(0)

  /// The copies into a store that a single context has open.
  init() {}

  /// The copies into a store, for all contexts that name it so.
  static func of(_ store: String) -> StoreFills {
    known.withLock { known in
      if let fills = known.stores[store]?.fills { return fills }
      if known.stores.count >= known.limit {
        known.stores = known.stores.filter { $0.value.fills != nil }
        known.limit = max(64, 2 * known.stores.count)
      }
      let made = StoreFills()
      known.stores[store] = Known.Weak(fills: made)
      return made
    }
  }

  /// Runs a copy into the store.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    running.wrappingAdd(1, ordering: .sequentiallyConsistent)
    begun.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { running.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// The number of copies before a check whose result holds until the next one; nil while one runs.
  ///
  /// Before its first transaction, a copy leaves no trace in the store.
  var countBeforeCheck: UInt64? {
    let count = begun.load(ordering: .sequentiallyConsistent)
    return running.load(ordering: .sequentiallyConsistent) == 0 ? count : nil
  }
}
