import Foundation

extension PersistenceError {
  /// Stored data that differs from what was written.
  public static func damaged(_ reason: String) -> PersistenceError {
    PersistenceError(
      .damaged, "\(reason); nothing was changed; restore the record or the store from a backup")
  }

  /// A raw value that a type does not have, as an enumeration of an earlier version lacks a case of a later one.
  @usableFromInline
  package static func unknownCase(of type: Any.Type, at position: Int) -> PersistenceError {
    PersistenceError(
      .unknownCase,
      "field number \(position) contains a raw value that is not a \(type); update the app, or give the type a case for "
        + "unknown values and an init(rawValue:) that returns it")
  }

  /// A schema that no store can represent.
  package static func invalidSchema(_ model: String, _ reason: String) -> PersistenceError {
    PersistenceError(.invalidSchema, "the model \(model) cannot be stored: \(reason)", model: model)
  }

  /// An invalid request.
  public static func invalidRequest(_ reason: String) -> PersistenceError {
    PersistenceError(.invalidRequest, reason)
  }

  /// A name that is not a stored field of a model.
  public static func unknownField(_ field: String, in schema: ModelSchema) -> PersistenceError {
    let whole = field.split(separator: ".", maxSplits: 1).first.map(String.init)
    let part = whole.flatMap { $0 == field ? nil : schema.field(named: $0) }
    return PersistenceError(
      .unknownField,
      part.map { part in
        "“\(field)” is not a stored field of \(schema.name) but a part of “\(part.name)”, which no store can sort by, "
          + "group by, select, aggregate or set; store it in a property of its own"
      } ?? "\(schema.name) has no stored field “\(field)”; its fields are "
        + schema.fields.map(\.name).joined(separator: ", "),
      model: schema.name, field: field)
  }

  /// A store whose schema of a model differs from the declared one.
  package static func schemaMismatch(model: String, location: String, differences: [String])
    -> PersistenceError
  {
    PersistenceError(
      .schemaMismatch,
      "the declaration of \(model) does not fit the store: "
        + differences.joined(separator: "; ")
        + "; use the stored declaration, or open the store with a StoreSchema that has a rule for each difference",
      model: model, location: location)
  }

  /// An insert of an existing key.
  public static func duplicateKey(_ key: RecordKey, in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .duplicateKey, "a \(schema.name) with this key exists; use save or update to change it",
      model: schema.name, field: schema.key.joined(separator: ", "), key: key)
  }

  /// An update of a record that does not exist.
  public static func notFound(_ key: RecordKey, in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .notFound, "no \(schema.name) has this key; use save or insert to add it", model: schema.name,
      key: key)
  }

  /// A value that a unique index already contains.
  public static func uniqueViolation(
    _ values: [PersistentValue], of index: IndexSchema, in schema: ModelSchema, key: RecordKey?
  ) -> PersistenceError {
    PersistenceError(
      .uniqueViolation,
      "another \(schema.name) has the unique value \(values.map { "\($0)" }.joined(separator: ", ")) of "
        + "\(index.fields.map { "“\($0)”" }.joined(separator: ", ")); change one of them",
      model: schema.name, field: index.fields.joined(separator: ", "), key: key)
  }

  /// A writer that did not finish within the busy time-out.
  public static func busy(_ location: String, waited: Duration) -> PersistenceError {
    PersistenceError(
      .busy,
      "another writer held the store for longer than the busy time-out of \(waited); retry, or raise the "
        + "time-out", location: location)
  }

  /// A context, transaction, snapshot or result that was used after it was closed.
  public static func closed(_ what: String) -> PersistenceError {
    PersistenceError(.closed, "\(what) is closed; open another one")
  }

  /// A write to a store whose files were removed or replaced while the context had them open (contract E8).
  public static func removedStore(_ location: String) -> PersistenceError {
    PersistenceError(
      .missingStore,
      "the store's files were removed or replaced while the store was open, so nothing was committed; close the context, "
        + "and open the path again", location: location)
  }

  /// A write to a read-only store.
  public static func readOnly(_ location: String) -> PersistenceError {
    PersistenceError(
      .readOnly, "the store is read-only; open it for writing, or make its files writable",
      location: location)
  }

  /// A request that a context does not support.
  public static func unsupported(_ what: String, by context: String) -> PersistenceError {
    PersistenceError(.unsupported, "\(context) cannot \(what)")
  }

  /// A use of the outer context inside the closure of its own transaction (R1a).
  public static func insideTransaction(_ location: String) -> PersistenceError {
    PersistenceError(
      .insideTransaction,
      "the closure of a transaction used the outer store, which would wait for itself; use the closure's argument",
      location: location)
  }
}

extension PersistenceError {
  /// An error of the operating system, with the code of the contract (E5): a full disk is ``Code/storeFull``, a
  /// missing file or folder ``Code/missingStore``, a missing permission ``Code/accessDenied``, and so on.
  ///
  /// It gives contexts with files the same errors.
  ///
  /// - Parameters:
  ///   - number: The value of `errno`, read immediately after the failed call.
  ///   - attempt: The attempted operation, such as `write the file`.
  ///   - path: The file or folder.
  /// - Returns: The error, with the system's code and message.
  public static func system(_ number: Int32, while attempt: String, at path: String) -> PersistenceError {
    let (code, advice) = meaning(of: number)
    return PersistenceError(
      code, "could not \(attempt) \(path): \(advice)", location: path,
      engineError: EngineError(engine: "POSIX", code: Int(number), message: String(cString: strerror(number)))
    )
  }

  private static func meaning(of number: Int32) -> (Code, String) {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: (.storeFull, "nothing was changed; free space on the disk")
    case EROFS: (.readOnly, "the file system is read-only; open the store read-only")
    case EACCES, EPERM:
      (.accessDenied, "permission is denied; allow this user to read and write the store and its folder")
    case ENOENT: (.missingStore, "it does not exist; check the path")
    case ENOTDIR, EISDIR, ELOOP:
      (
        .notAStore,
        "a component of the path is a file instead of a folder, or a folder instead of a file; check the path"
      )
    case EXDEV:
      (
        .unsupported, "it is on another file system than the rest of the store; keep the whole store on one"
      )
    case EMFILE, ENFILE: (.inputOutput, "too many files are open; raise the limit of open files")
    case ENAMETOOLONG: (.valueTooLarge, "the name is too long for the file system; shorten it")
    default: (.inputOutput, "check the storage medium")
    }
  }
}

extension PersistenceError {
  /// A condition on related records in a request, which no validated request contains.
  package static var relationInRequest: PersistenceError {
    PersistenceError(
      .unsupported,
      "conditions on related records are answered by the repository of a store, and by no other data source")
  }
}
