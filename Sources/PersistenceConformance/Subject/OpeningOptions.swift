/// The options with which a check opens a store.
public struct OpeningOptions: Sendable, Hashable, Codable {
  /// How long a writer waits for another writer before it throws `busy`, in milliseconds; nil for the
  /// default.
  public var busyMilliseconds: Int?
  /// Whether the store opens read-only; it exists already.
  public var isReadOnly = false
  /// Whether a missing store is created.
  public var creates = true
  /// Whether a context with a declared maximum size opens the smallest store it can (contract E7).
  public var isSmallest = false

  /// The defaults: read-write, and a missing store is created.
  public init() {}

  static var readOnly: OpeningOptions { options { $0.isReadOnly = true } }
  static var existing: OpeningOptions { options { $0.creates = false } }
  /// The smallest store that the engine can open.
  static var smallest: OpeningOptions { options { $0.isSmallest = true } }
  /// Waits a number of milliseconds for other writers.
  static func waiting(milliseconds: Int) -> OpeningOptions { options { $0.busyMilliseconds = milliseconds } }
  /// Waits for other writers longer than any check takes.
  static var patient: OpeningOptions { waiting(milliseconds: 60_000) }

  private static func options(_ change: (inout OpeningOptions) -> Void) -> OpeningOptions {
    var options = OpeningOptions()
    change(&options)
    return options
  }
}

extension OpeningOptions {
  /// The options as one command-line argument.
  var argument: String { "\(busyMilliseconds ?? -1),\(isReadOnly),\(creates),\(isSmallest)" }

  init?(argument: String) {
    let parts = argument.split(separator: ",")
    guard parts.count == 4, let busy = Int(parts[0]), let isReadOnly = Bool(String(parts[1])),
      let creates = Bool(String(parts[2])), let isSmallest = Bool(String(parts[3]))
    else { return nil }
    self.init()
    busyMilliseconds = busy < 0 ? nil : busy
    self.isReadOnly = isReadOnly
    self.creates = creates
    self.isSmallest = isSmallest
  }
}
