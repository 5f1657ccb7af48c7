/// The one error type of the package (contract E2).
///
/// An error has a stable ``Code`` to switch on, a message that says what was tried, where, why it failed and
/// what to do, the model, field and key it is about where there are any, and the engine's own code and message
/// beneath.
public struct PersistenceError: Error, Sendable {
  /// A stable name for a kind of failure, to compare and switch on.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable {
    /// The code's stable text.
    public let rawValue: String

    /// Makes a code; contexts by other authors may add their own, with a prefix of theirs.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What the engine under a context said.
  public struct EngineError: Sendable, Hashable, CustomStringConvertible {
    /// The engine, such as `SQLite`.
    public var engine: String
    /// The engine's own number for the failure.
    public var code: Int
    /// The engine's own words.
    public var message: String

    /// Makes an engine's error.
    public init(engine: String, code: Int, message: String) {
      self.engine = engine
      self.code = code
      self.message = message
    }

    /// The engine's error in one line.
    public var description: String { "\(engine) \(code): \(message)" }
  }

  /// The kind of failure.
  public var code: Code
  /// What was tried, where, why it failed and what to do.
  public var message: String
  /// The model that it is about.
  public var model: String?
  /// The stored name of the field that it is about.
  public var field: String?
  /// The primary key of the record that it is about.
  public var key: RecordKey?
  /// The store that it is about, without secrets.
  public var location: String?
  /// What the engine said.
  public var engineError: EngineError?

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, model: String? = nil, field: String? = nil, key: RecordKey? = nil,
    location: String? = nil, engineError: EngineError? = nil
  ) {
    self.code = code
    self.message = message
    self.model = model
    self.field = field
    self.key = key
    self.location = location
    self.engineError = engineError
  }

  /// Whether trying the same again later may succeed without anything being repaired.
  public var isRetryable: Bool { code == .busy || code == .timedOut || code == .unreachable }

  /// The error with whatever is not yet known of its place filled in.
  public func at(
    model: String? = nil, key: @autoclosure () -> RecordKey? = nil, location: String? = nil
  ) -> PersistenceError {
    var error = self
    error.model = error.model ?? model
    error.key = error.key ?? key()
    error.location = error.location ?? location
    return error
  }
}

extension PersistenceError: CustomStringConvertible {
  /// The whole error in one line.
  public var description: String {
    var text = "\(code.rawValue): \(message)"
    let place = [
      model.map { "model \($0)" }, field.map { "field \($0)" }, key.map { "key \($0)" },
      location.map { "store \($0)" },
    ].compactMap(\.self)
    if !place.isEmpty { text += " [" + place.joined(separator: ", ") + "]" }
    if let engineError { text += " (\(engineError))" }
    return text
  }
}
