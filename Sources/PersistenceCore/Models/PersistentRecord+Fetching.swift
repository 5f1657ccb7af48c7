public import PersistenceDriver
import PersistenceDriverSupport

extension PersistentRecord {
  /// Fetches the records of a context lazily.
  public static func fetch(in context: any PersistentContext, options: FetchOptions<Self>?) throws
    -> AnyCollection<Self>
  {
    AnyCollection(try results(in: context, options: options ?? FetchOptions()))
  }

  /// Fetches the records of a context lazily, as the concrete collection behind
  /// ``PersistentModel/fetch(in:options:)``.
  ///
  /// It is Sendable, and has methods that throw if reading fails. The first page is already read.
  @inlinable
  package static func results(
    in context: any PersistentContext, options: FetchOptions<Self> = FetchOptions(), place: CallSite? = nil
  ) throws -> PersistentResults<Self> {
    try results(in: context, options: options, place: place, selecting: nil) { try Self(from: $0) }
  }

  /// The results of a fetch of whole records (nil) or selected fields.
  @inlinable
  static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>, place: CallSite? = nil,
    selecting selected: [Int]?, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws -> PersistentResults<Element> {
    if selected == nil, let page = try ResultStorage(passedOnBy: context, options, decode) {
      return PersistentResults(storage: page)
    }
    var storage: ResultStorage<Element>?
    try FetchedRows.fetch(RequestOptions.of(options, place: place), in: context, selecting: selected) {
      storage = try ResultStorage($0, RowDecoder($0.origin, decode: decode))
    }
    guard let storage else { throw PersistenceError.noRows }
    return PersistentResults(storage: storage)
  }

  /// Counts the records of a context without decoding them.
  public static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int {
    try StorageAccess.withRequest(of: RequestOptions.of(options ?? FetchOptions()), in: context) {
      access, answerable in
      let (reader, request) = (answerable.reader, answerable.request)
      return try access.root.monitor.measure(request) {
        try reader.plan(for: request)
      } _: {
        try answerable.count()
      }
    }
  }

  @inlinable
  package static func find(_ key: PrimaryKey, in context: any PersistentContext) throws -> Self? {
    let declared = schema
    let reader = try LocatedReader.resolved(
      context, for: Self.self, declared.storage.valid, hasFormerNames: declared.hasFormerNames)
    do {
      // Borrowed from the declaration: readers would contend for the schema's reference count.
      guard let valid = declared.storage.valid else { throw declared.refusal }
      return try read(RecordKey(key.keyValues), as: valid, from: reader)
    } catch let error as PersistenceError where error.code == .schemaMismatch {
      return try findFitted(key, in: context, after: error)
    }
  }

  /// Reads through a mapping, because the store contains another schema.
  @usableFromInline
  static func findFitted(
    _ key: PrimaryKey, in context: any PersistentContext, after error: PersistenceError
  ) throws -> Self? {
    let type = try recordType
    let access = try StorageAccess(context, for: type).fitted(for: type, after: error, in: context)
    return try read(
      RecordKey(key.keyValues), as: schema.model, from: LocatedReader(access.reader, of: access.root))
  }

  /// Reads the record with a key, and adds the key to errors.
  ///
  /// It is specialized for the model: returning a record from a closure through generic code costs as much as
  /// finding it.
  @inlinable
  static func read(_ key: RecordKey, as schema: ModelSchema, from reader: LocatedReader) throws -> Self? {
    var record: Self?
    do {
      _ = try reader.reader.find(key, in: schema) { record = try Self(from: $0) }
    } catch {
      throw reader.located(error, key, schema)
    }
    return record
  }
}

extension PersistenceError {
  /// The error of a fetch that never called its closure.
  @usableFromInline static var noRows: PersistenceError {
    PersistenceError(.engineFailure, "the context ended a fetch without rows; report this to its author")
  }
}

/// The rows of a fetch before a page is decoded, for code that is not specialized for the model.
///
/// A class, because closures and initializers pass it on: a copy would retain each of its parts.
@usableFromInline
final class FetchedRows {
  /// The number of elements in a page of plain results.
  @inlinable static var pageSize: Int { 128 }

  @usableFromInline let rows: any StorageResults
  @usableFromInline let origin: RowOrigin
  private let answerable: AnswerableRequest
  @usableFromInline let monitor: ContextMonitor
  let place: CallSite
  /// Whether results pin the moment of the rows; in transactions, they are read at once (contract R1a).
  @usableFromInline let isPinned: Bool

  init(
    _ answerable: AnswerableRequest, selecting selected: [Int]? = nil, of store: any StorageContext,
    place: CallSite, isPinned: Bool
  ) throws {
    rows = try answerable.fetch(selecting: selected)
    self.answerable = answerable
    origin = RowOrigin(answerable.request.schema, selecting: selected, location: store.location)
    (monitor, self.place, self.isPinned) = (store.monitor, place, isPinned)
  }

  /// The reader of the rows.
  @usableFromInline var reader: any StorageReader { answerable.reader }

  /// Fetches the rows of options, and calls a closure with them; once more, with a mapping, if the store contains
  /// another schema of the model (contract S1).
  ///
  /// The closure decodes the first page, so that a slow request is reported with it.
  @usableFromInline
  static func fetch(
    _ options: RequestOptions, in context: any PersistentContext, selecting selected: [Int]?,
    _ body: (FetchedRows) throws -> Void
  ) throws {
    try StorageAccess.withRequest(of: options, in: context) { access, answerable in
      try measure(answerable, access) {
        try body(
          FetchedRows(
            answerable, selecting: selected, of: access.root, place: options.place, isPinned: access.isStore))
      }
    }
  }

  /// Fetches the rows of options that include other models, which the reader of the rows has at the same moment.
  @usableFromInline
  static func fetch(
    _ options: RequestOptions, in context: any PersistentContext,
    including included: [any PersistentRecord.Type], _ body: (FetchedRows) throws -> Void
  ) throws {
    let related = options.related + included
    try StorageAccess.with(context, for: options.model, relating: related) { access in
      let answerable = try access.answerable(options, by: access.moment())
      try measure(answerable, access) {
        try body(
          FetchedRows(answerable, of: access.root, place: options.place, isPinned: access.isStore))
      }
    }
  }

  private static func measure(
    _ answerable: AnswerableRequest, _ access: StorageAccess, _ body: () throws -> Void
  ) throws {
    try access.root.monitor.measure(answerable.request) {
      try answerable.reader.plan(for: answerable.request)
    } _: {
      try body()
    }
  }

  /// The number of elements in the first page, of a decoder with pages of a size.
  @usableFromInline
  func firstPageSize(_ pageSize: Int) -> Int {
    // Most of a random-access result may never be requested. A larger page than plain results have is read at once only
    // if it is asked for.
    rows.usesRandomAccess ? 16 : min(max(answerable.request.limit ?? 0, Self.pageSize), pageSize)
  }

  /// The maximum number of rows.
  @usableFromInline var limit: Int { answerable.request.limit ?? .max }

  /// Checks rows that were not read, if the engine can, and pins them; returns what holds the pin.
  @usableFromInline
  func pinned() throws -> ResultPin {
    try (rows as? any CheckedResults)?.checkUnread()
    return ResultPin(rows, answerable.request, monitor, place)
  }
}
