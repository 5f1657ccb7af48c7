import PersistenceDriver
import Synchronization

/// Which declared schemas were found to agree with which stored ones: comparing them costs more than a small read.
final class Agreements: Sendable {
  private static let limit = 64

  /// Both are kept, so that their identities are not given to others.
  private let known = Mutex<[ObjectIdentifier: (declared: ModelSchema, stored: ModelSchema)]>([:])

  /// Makes sure that a declared schema fits the stored one (contract E4).
  func require(_ declared: ModelSchema, _ stored: ModelSchema, location: String) throws {
    if known.withLock({ $0[declared.identity]?.stored.identity == stored.identity }) { return }
    try declared.requireCompatible(with: stored, location: location)
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll() }
      known[declared.identity] = (declared, stored)
    }
  }
}
