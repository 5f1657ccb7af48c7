import Foundation
import Synchronization

/// The work of one thread whose progress a caller follows.
///
/// A task that the work creates inherits the scope, but reports nothing: the closure belongs to the thread.
final class ProgressScope: @unchecked Sendable {  // only its own thread uses its state
  @TaskLocal static var current: ProgressScope?
  /// The number of scopes in the process.
  static let count = Atomic<Int>(0)

  /// Reports between two calls of the closure: a call takes microseconds, as much as some records.
  private static let interval = 256

  private let thread = pthread_self()
  private var follow: ((Int) throws -> Void)?
  private var reports = 0
  private var done = 0

  init(_ follow: @escaping (Int) throws -> Void) { self.follow = follow }

  /// Whether the calling thread runs the work.
  var isActive: Bool { follow != nil && pthread_equal(thread, pthread_self()) != 0 }

  func report(_ done: Int) throws {
    guard isActive, let follow else { return }
    defer { reports += 1 }
    guard reports % Self.interval == 0 else { return }
    self.done = max(self.done, done)
    try follow(self.done)
  }

  /// Discards the closure, which must not outlive the work.
  func end() { follow = nil }
}
