import Foundation
import PersistenceCore
import Synchronization

/// Copies of a store's files, taken while it changes.
///
/// A process that is killed at that moment leaves the same files: the system keeps what was written, and nothing else.
final class KillCopies: Sendable {
  /// Copies are small, but each is opened.
  private static let limit = 10

  private let store: StoreUnderTest
  private let copies = Mutex<[StoreUnderTest]>([])

  init(of store: StoreUnderTest) { self.store = store }

  var all: [StoreUnderTest] { copies.withLock { $0 } }

  /// Copies the files; always before and after a commit, otherwise a few times.
  func take(isCommit: Bool) throws {
    guard isCommit || copies.withLock({ $0.count < Self.limit }) else { return }
    let copy = try store.context.makeStore()
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: store.folder.path) {
      try files.copyItem(
        at: store.folder.appendingPathComponent(name), to: copy.folder.appendingPathComponent(name))
    }
    copies.withLock { $0.append(copy) }
  }
}
