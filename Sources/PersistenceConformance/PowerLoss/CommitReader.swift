import PersistenceCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif
import Foundation

/// Reads a store whenever its writer is about to synchronize a file, and prints the transactions that it sees.
///
/// A commit that is visible at that moment is not durable yet: a caller could act on it, and lose it.
final class CommitReader: Sendable {
  private static let current = Mutex<CommitReader?>(nil)

  private let wanted = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private let isReading = Mutex(false)
  private let repositories: [Repository]
  private let seen: @Sendable (Int) -> Void

  /// The longest wait for a reader that its context blocks, in seconds.
  private static let patience = 1.0

  private init(_ repositories: [Repository], _ seen: @escaping @Sendable (Int) -> Void) {
    self.repositories = repositories
    self.seen = seen
  }

  /// Starts reading; returns false if the process has no recorder.
  static func start(
    _ repositories: [Repository], seen: @escaping @Sendable (Int) -> Void
  ) -> Bool {
    guard let program = dlopen(nil, RTLD_NOW),
      let symbol = dlsym(program, "persistence_record_before_sync")
    else { return false }
    let reader = CommitReader(repositories, seen)
    current.withLock { $0 = reader }
    Thread.detachNewThread { reader.read() }
    typealias Callback = @convention(c) () -> Void
    let register = unsafeBitCast(symbol, to: (@convention(c) (Callback) -> Void).self)
    register { CommitReader.current.withLock { $0 }?.beforeSync() }
    return true
  }

  private func beforeSync() {
    // The reader may synchronize files itself.
    guard !isReading.withLock({ $0 }) else { return }
    isReading.withLock { $0 = true }
    wanted.signal()
    _ = done.wait(timeout: .now() + Self.patience)
  }

  private func read() {
    var newest = 0
    while true {
      wanted.wait()
      for repository in repositories {
        // A store without its first commit has no models, or cannot be read yet.
        guard let counter = try? repository.find(Account.self, id: 0) else { continue }
        if counter.transfers > newest {
          newest = counter.transfers
          seen(newest)
        }
      }
      isReading.withLock { $0 = false }
      done.signal()
    }
  }
}
