package import PersistenceDriver
import PersistenceDriverSupport

/// The rows of a fetch before a page is decoded, for code that is not specialized for the model.
@usableFromInline
struct FetchedRows {
  /// The number of elements in a page of plain results.
  @inlinable static var pageSize: Int { 128 }

  @usableFromInline let rows: any StorageResults
  @usableFromInline let origin: RowOrigin
  /// The reader of the rows.
  @usableFromInline let reader: any StorageReader
  let request: FetchRequest
  @usableFromInline let monitor: ContextMonitor
  let place: CallSite
  /// Whether results pin the moment of the rows; in transactions, they are read at once (contract R1a).
  @usableFromInline let isPinned: Bool

  init(
    _ answerable: AnswerableRequest, selecting selected: [Int]? = nil, of store: any StorageContext,
    place: CallSite, isPinned: Bool
  ) throws {
    rows = try answerable.fetch(selecting: selected)
    (reader, request) = (answerable.reader, answerable.request)
    origin = RowOrigin(request.schema, selecting: selected, location: store.location)
    (monitor, self.place, self.isPinned) = (store.monitor, place, isPinned)
  }

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
    rows.usesRandomAccess ? 16 : min(max(request.limit ?? 0, Self.pageSize), pageSize)
  }

  /// The maximum number of rows.
  @usableFromInline var limit: Int { request.limit ?? .max }

  /// Checks rows that were not read, if the engine can, and pins them; returns what holds the pin.
  @usableFromInline
  func pinned() throws -> ResultPin {
    try (rows as? any CheckedResults)?.checkUnread()
    return ResultPin(rows, request, monitor, place)
  }
}

/// The rows of a result beyond its first page, which pin a snapshot.
@usableFromInline
final class ResultPin: Sendable {
  let rows: any StorageResults
  private let monitor: ContextMonitor
  private let pin: UInt64

  init(_ rows: any StorageResults, _ request: FetchRequest, _ monitor: ContextMonitor, _ place: CallSite) {
    (self.rows, self.monitor) = (rows, monitor)
    pin = monitor.pinned(request, place: place)
  }

  deinit { monitor.released(pin) }
}
