/// The error type of the package (contract E2).
///
/// An error has a stable ``Code`` to switch on, and a message that states what failed, why, and what to do. It also
/// has the affected model, field and key, if any, and the engine's own code and message.
public struct PersistenceError: Error, Sendable {
  /// A stable code for a kind of failure.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable {
    /// The code's stable text.
    public let rawValue: String

    /// Creates a code.
    ///
    /// Third-party contexts may add codes with their own prefix.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The error of the engine under a context.
  public struct EngineError: Sendable, Hashable, CustomStringConvertible {
    /// The engine, such as `SQLite`.
    public var engine: String
    /// The engine's own error code.
    public var code: Int
    /// The engine's own message.
    public var message: String

    /// Creates an engine's error.
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
  /// What failed, why, and what to do.
  public var message: String
  /// The affected model.
  public var model: String?
  /// The stored name of the affected field.
  public var field: String?
  /// The primary key of the affected record.
  public var key: RecordKey?
  /// The affected store's location, without secrets.
  public var location: String?
  /// The engine's error.
  public var engineError: EngineError?
  /// The differences between a declaration and the store, if ``code`` is ``Code/schemaMismatch`` or
  /// ``Code/newerStore``.
  public var differences: [SchemaDifference] = []

  /// Creates an error.
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

  /// Whether a retry may succeed without any repair.
  public var isRetryable: Bool { code == .busy || code == .timedOut || code == .unreachable }

  /// The error with its missing model, key and location filled in.
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

extension PersistenceError.Code: CustomStringConvertible {
  /// The code's stable text, such as `duplicateKey`.
  public var description: String { rawValue }
}

extension PersistenceError.Code {
  /// The context does not support the model (contract E1).
  public static let incompatibleContext = Self(rawValue: "incompatibleContext")
  /// An insert found an existing record with the key (W1).
  public static let duplicateKey = Self(rawValue: "duplicateKey")
  /// An update or `write` found no record with the key (W1).
  public static let notFound = Self(rawValue: "notFound")
  /// A unique index already contains the value (W4).
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// A record refers to a record that does not exist (L1); nothing was committed.
  public static let brokenReference = Self(rawValue: "brokenReference")
  /// A key path or name is not a stored field (E3).
  public static let unknownField = Self(rawValue: "unknownField")
  /// The store was written with another schema (E4).
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
  /// A newer version of the app has changed the model so that this version cannot use it (S7).
  public static let newerStore = Self(rawValue: "newerStore")
  /// A stored raw value is none of its property's type, such as a case that a newer version of the app has added.
  public static let unknownCase = Self(rawValue: "unknownCase")
  /// No store can represent the declared schema.
  public static let invalidSchema = Self(rawValue: "invalidSchema")
  /// A request is invalid: a negative limit, a malformed pattern, a value of the wrong kind (O4, V7).
  public static let invalidRequest = Self(rawValue: "invalidRequest")
  /// A text search exceeded its step limit (V7).
  public static let patternTooSlow = Self(rawValue: "patternTooSlow")
  /// A value exceeds a limit of the context, such as a key or blob that is too long.
  public static let valueTooLarge = Self(rawValue: "valueTooLarge")
  /// Another writer did not finish within the busy time-out (W6); a retry may succeed.
  public static let busy = Self(rawValue: "busy")
  /// The closure of a transaction used the outer repository (R1a).
  public static let insideTransaction = Self(rawValue: "insideTransaction")
  /// The stored state is not the one that the change is based on; read it again and repeat the change.
  public static let conflict = Self(rawValue: "conflict")
  /// The server does not know all changes since the checkpoint; get a new checkpoint, and then all records.
  public static let checkpointExpired = Self(rawValue: "checkpointExpired")
  /// The calling task was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// No answer arrived in time.
  ///
  /// A write may or may not have been applied; a retry may succeed.
  public static let timedOut = Self(rawValue: "timedOut")
  /// A commit failed at a point where the store may or may not hold the transaction (W5).
  ///
  /// Repeat the transaction only if it may run twice. Otherwise open the store again and read what it holds.
  public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
  /// The server is unreachable, or its answer was incomplete; a retry may succeed.
  public static let unreachable = Self(rawValue: "unreachable")
  /// The server rejected the credentials, or denies the request.
  public static let unauthorized = Self(rawValue: "unauthorized")
  /// TLS does not prove that the server is the one in the URL, so nothing was sent.
  public static let untrustedServer = Self(rawValue: "untrustedServer")
  /// A transaction, snapshot, result or context was used after it was closed.
  public static let closed = Self(rawValue: "closed")
  /// The store is read-only.
  public static let readOnly = Self(rawValue: "readOnly")
  /// A copy into the store is unfinished: the store contains only part of the records.
  public static let incompleteStore = Self(rawValue: "incompleteStore")
  /// The path does not exist, and the store may not be created; or another program removed or replaced the open store.
  public static let missingStore = Self(rawValue: "missingStore")
  /// The path exists, but is not a store of this kind (E5).
  public static let notAStore = Self(rawValue: "notAStore")
  /// Stored data is damaged (E5, R4).
  public static let damaged = Self(rawValue: "damaged")
  /// The store no longer keeps the moment that a result or snapshot shows; fetch again (R2).
  public static let snapshotExpired = Self(rawValue: "snapshotExpired")
  /// Another program changed a record that a live result still shows (R2).
  public static let changedOutside = Self(rawValue: "changedOutside")
  /// The disk is full, or the store has reached its size limit (E5, E7).
  public static let storeFull = Self(rawValue: "storeFull")
  /// The operating system denied access.
  public static let accessDenied = Self(rawValue: "accessDenied")
  /// Reading or writing the storage medium failed (E5).
  public static let inputOutput = Self(rawValue: "inputOutput")
  /// A store URL is malformed, or has an unknown scheme, option or value.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// The context does not support the request.
  public static let unsupported = Self(rawValue: "unsupported")
  /// A value could not be encoded.
  public static let encodingFailed = Self(rawValue: "encodingFailed")
  /// The engine failed in a way that has no specific code.
  public static let engineFailure = Self(rawValue: "engineFailure")
}
