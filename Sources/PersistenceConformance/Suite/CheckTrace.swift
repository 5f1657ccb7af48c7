import PersistenceCore
import Synchronization

/// The line of the last expectation of a running check, and the counts of its work.
///
/// The line locates an error that the context throws in a call that no expectation makes.
final class CheckTrace: Sendable {
  @TaskLocal static var current: CheckTrace?

  private let last: Mutex<(file: String, line: Int)>
  private let isAtStart = Atomic(true)
  private let unread = Mutex<PersistenceError?>(nil)
  private let numbers = Mutex<[String: Int]>([:])

  /// The first error of a page that a plain loop could not read; the loop has ended early.
  var readFailure: PersistenceError? { unread.withLock { $0 } }

  /// What the check has counted so far.
  var counts: [String: Int] { numbers.withLock { $0 } }

  /// Begins a trace at the declaration of a check.
  init(file: StaticString, line: UInt) { last = Mutex(("\(file)", Int(line))) }

  /// Notes an expectation of the running check.
  static func note(_ file: StaticString, _ line: UInt) {
    guard let current else { return }
    current.isAtStart.store(false, ordering: .relaxed)
    current.last.withLock { $0 = ("\(file)", Int(line)) }
  }

  /// Adds to a count of the running check, such as "kills"; 0 says that nothing of the kind happened.
  static func count(_ what: String, _ number: Int) {
    current?.numbers.withLock { $0[what, default: 0] += number }
  }

  /// Notes a page that a plain loop of the running check could not read.
  @Sendable static func noteUnread(_ error: PersistenceError) {
    current?.unread.withLock { first in if first == nil { first = error } }
  }

  /// Describes an error that the check does not expect.
  func failure(_ error: any Error) -> ConformanceFailure {
    let place = last.withLock { $0 }
    let isAtStart = isAtStart.load(ordering: .relaxed)
    return ConformanceFailure(
      isAtStart
        ? "a call before the first expectation"
        : "a call after the expectation in line \(place.line), or in it",
      expected: "no error", found: "\(error)",
      deed: "a call threw `\((error as? PersistenceError)?.code.rawValue ?? "\(type(of: error))")`",
      file: place.file, line: place.line)
  }
}
