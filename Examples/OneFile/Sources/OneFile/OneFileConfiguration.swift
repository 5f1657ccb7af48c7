/// How a store in one file is opened.
public struct OneFileConfiguration: Sendable, Hashable {
  /// How long a writer waits for another one before it throws `busy` (contract W6).
  public var busyTimeout: Duration = .seconds(5)

  /// Whether the store is only read.
  public var isReadOnly = false

  /// Whether a store is made where there is none.
  public var creates = true

  /// The defaults: for reading and writing, made where there is none.
  public init() {}
}
