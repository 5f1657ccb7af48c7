public import PersistenceDriver

/// How many entries of an outbox wait, fail and were set aside.
public struct OutboxState: Sendable, Hashable {
  /// The number of waiting entries.
  public var waiting: Int
  /// The number of waiting entries whose last attempt failed.
  public var failed: Int
  /// The number of entries that were set aside.
  public var setAside: Int
  /// The error of the first waiting entry that failed; nil if none did.
  public var error: PersistenceError?

  /// Creates a state.
  public init(waiting: Int, failed: Int, setAside: Int, error: PersistenceError? = nil) {
    (self.waiting, self.failed, self.setAside, self.error) = (waiting, failed, setAside, error)
  }

  /// Whether two states are the same; errors are compared by code and message.
  public static func == (left: OutboxState, right: OutboxState) -> Bool { left.text == right.text }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private var text: [String] {
    ["\(waiting) \(failed) \(setAside)", error?.code.rawValue ?? "", error?.message ?? ""]
  }
}
