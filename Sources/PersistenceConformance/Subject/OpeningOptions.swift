/// How a check wants a store to be opened.
public struct OpeningOptions: Sendable, Hashable, Codable {
  /// How long a writer waits for another one, in milliseconds, before it throws `busy`; nil for the default.
  public var busyMilliseconds: Int?
  /// Whether the store is only read; it exists.
  public var isReadOnly = false
  /// Whether a store that does not exist is made.
  public var creates = true
  /// Whether a context that declares a greatest size gives its store the least size that it can (contract E7).
  public var isSmallest = false

  /// The defaults: for reading and writing, made where there is none.
  public init() {}

  /// For reading only.
  static var readOnly: OpeningOptions { options { $0.isReadOnly = true } }
  /// Not made where there is none.
  static var existing: OpeningOptions { options { $0.creates = false } }
  /// Of the least size that the engine can be given.
  static var smallest: OpeningOptions { options { $0.isSmallest = true } }
  /// Waiting so long for other writers.
  static func waiting(milliseconds: Int) -> OpeningOptions { options { $0.busyMilliseconds = milliseconds } }
  /// Waiting for other writers for as long as any check takes.
  static var patient: OpeningOptions { waiting(milliseconds: 60_000) }

  private static func options(_ change: (inout OpeningOptions) -> Void) -> OpeningOptions {
    var options = OpeningOptions()
    change(&options)
    return options
  }
}

extension OpeningOptions {
  /// The options as one argument of a command line.
  var argument: String {
    "\(busyMilliseconds ?? -1),\(isReadOnly),\(creates),\(isSmallest)"
  }

  /// Reads what ``argument`` says; nil where it is malformed.
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
