extension PersistenceError.Code {
  /// A model met a context that does not hold it (contract E1).
  public static let incompatibleContext = Self(rawValue: "incompatibleContext")
  /// An insert met an existing key (W1).
  public static let duplicateKey = Self(rawValue: "duplicateKey")
  /// An update or `write` met no record of that key (W1).
  public static let notFound = Self(rawValue: "notFound")
  /// A unique index refused a second value (W4).
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// A key path or name is no stored field (E3).
  public static let unknownField = Self(rawValue: "unknownField")
  /// The store was written with another schema (E4).
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
  /// A declared schema cannot be kept by any store.
  public static let invalidSchema = Self(rawValue: "invalidSchema")
  /// A request makes no sense: a negative limit, a bad pattern, a value of the wrong kind (O4, V7).
  public static let invalidRequest = Self(rawValue: "invalidRequest")
  /// A text search ran longer than it may (V7).
  public static let patternTooSlow = Self(rawValue: "patternTooSlow")
  /// A value that the context cannot keep, such as a key or blob that is too long.
  public static let valueTooLarge = Self(rawValue: "valueTooLarge")
  /// Another writer did not finish within the stated time (W6); trying again may help.
  public static let busy = Self(rawValue: "busy")
  /// The outer repository was used inside the closure of its own transaction (R1a).
  public static let insideTransaction = Self(rawValue: "insideTransaction")
  /// What is stored is not what the change began with; reading it and changing it again may help.
  public static let conflict = Self(rawValue: "conflict")
  /// The task that asked was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// No answer came within the stated time, and whether a write was done is not known; trying again may help.
  public static let timedOut = Self(rawValue: "timedOut")
  /// A server could not be reached, or broke off before its answer was whole; trying again may help.
  public static let unreachable = Self(rawValue: "unreachable")
  /// A server does not know who asks, or does not allow it.
  public static let unauthorized = Self(rawValue: "unauthorized")
  /// A transaction, snapshot or result was used after its end, or its context was closed.
  public static let closed = Self(rawValue: "closed")
  /// The store may only be read.
  public static let readOnly = Self(rawValue: "readOnly")
  /// A migration into the store was begun and not finished: it holds a part of the records.
  public static let incompleteStore = Self(rawValue: "incompleteStore")
  /// The path does not exist, and the store was not to be made there.
  public static let missingStore = Self(rawValue: "missingStore")
  /// The path holds something that is no store of this kind (E5).
  public static let notAStore = Self(rawValue: "notAStore")
  /// Stored data is damaged (E5, R4).
  public static let damaged = Self(rawValue: "damaged")
  /// A record was changed from outside while a result that shows it was alive (R2).
  public static let changedOutside = Self(rawValue: "changedOutside")
  /// The disk, or the store's declared size, is full (E5, E7).
  public static let storeFull = Self(rawValue: "storeFull")
  /// The operating system refused access.
  public static let accessDenied = Self(rawValue: "accessDenied")
  /// Reading or writing the medium failed (E5).
  public static let inputOutput = Self(rawValue: "inputOutput")
  /// A store's URL is malformed, or names an unknown scheme, option or value.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// This context cannot do what was asked.
  public static let unsupported = Self(rawValue: "unsupported")
  /// A value could not be encoded as it was to be stored.
  public static let encodingFailed = Self(rawValue: "encodingFailed")
  /// An engine failed in a way that has no code of its own.
  public static let engineFailure = Self(rawValue: "engineFailure")
}
