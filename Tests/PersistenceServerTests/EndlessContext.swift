import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A context whose counts end only when they are interrupted.
final class EndlessContext: StorageContextWrapper {
  let wrapped: any StorageContext
  /// The number of counts that run now.
  let running = Atomic(0)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func count(_ request: FetchRequest) throws -> Int {
    running.add(1, ordering: .sequentiallyConsistent)
    defer { running.subtract(1, ordering: .sequentiallyConsistent) }
    while true {
      try ReadInterruption.check()
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// Waits until a number of counts run.
  func waitUntilRunning(_ count: Int) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while running.load(ordering: .sequentiallyConsistent) != count {
      guard ContinuousClock.now < deadline else {
        throw PersistenceError(.timedOut, "\(running.load(ordering: .relaxed)) counts run, not \(count)")
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
