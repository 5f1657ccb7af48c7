import CSQLite
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// The rows of a request, read a page at a time by statements that are not kept open in between.
///
/// Where an index or the key yields the order, a page goes on after the last row of the one before, by seeks.
/// Where an order has to be sorted for, a small result is kept as it is; of a larger one SQLite sorts the rows'
/// numbers, which are kept (8 bytes a row).
final class SQLiteResults: StorageResults, @unchecked Sendable {  // used under the reader's lock
  let usesRandomAccess = false
  private let request: FetchRequest
  private let source: any SQLiteReader
  /// The model and the lowered request; nil where the store does not hold the model.
  private let query: (model: SQLiteModel, ordered: SQLQuery)?
  /// The columns that are read.
  private let columns: SQLiteColumns
  /// The fields of the order, and the columns in which they stand.
  private let orderPositions: [Int]
  private let orderColumns: [Int]

  private var total: Int?
  private var places = SQLiteKeysetBookmarks()
  private var locators = SQLiteSortedRowIDs()
  private var kept: SQLiteBufferedRows?
  private var isLarge = false
  private var isSorted: Bool?

  /// How far ahead of the nearest known place rows are read and passed over, instead of their keys only.
  private static let passedOver = 1_024

  /// How many rows' numbers a first sort keeps, so that SQLite keeps no more either; one row more than these and
  /// all is sorted a second time.
  private static let firstSort = 8_192

  /// Results of a request.
  ///
  /// - Parameters:
  ///   - request: Which rows.
  ///   - selected: The fields that the rows have; nil for all.
  ///   - source: Where they are read.
  /// - Throws: ``PersistenceError``.
  init(_ request: FetchRequest, selecting selected: [Int]? = nil, in source: any SQLiteReader) throws {
    if let selected { try request.schema.requirePositions(selected) }
    self.request = request
    self.source = source
    query = try source.withReader { connection in
      try connection.model(for: request.schema).map { model in
        (model, try SQLQuery(request, includingAnchor: false, model: model.number))
      }
    }
    let order = query?.ordered.order.criteria.map { $0.position } ?? []
    let cells = query?.model.cells ?? []
    if let selected, query != nil {
      columns = SQLiteColumns(selected, and: order, of: cells)
    } else {
      columns = query?.model.columns ?? SQLiteColumns(all: [])
    }
    orderPositions = order
    orderColumns = columns.columns(of: order)
    if query == nil || request.limit == 0 { total = 0 }
  }

  func count() throws -> Int {
    try source.withReader { connection in
      if let total { return total }
      guard let query else { return 0 }
      let count = try connection.count(request, of: query.model)
      total = count
      return count
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard offset >= 0, limit > 0, let query, request.limit != 0 else { return 0 }
    let wanted = min(limit, (request.limit ?? Int.max) - offset)
    guard wanted > 0 else { return 0 }
    return try source.withReader { connection in
      if let total, offset >= total { return 0 }
      if try sorts(connection, query) {
        return try readSorted(connection, query.model, from: offset, wanted, body)
      }
      return try readInOrder(connection, from: offset, wanted, body)
        ?? readSorted(
          connection, query.model, from: offset, wanted, body)
    }
  }

  /// Whether SQLite has to sort.
  private func sorts(_ connection: SQLiteConnection, _ query: (model: SQLiteModel, ordered: SQLQuery)) throws
    -> Bool
  {
    if let isSorted { return isSorted }
    let statement = query.ordered.select(.rows, columns.items, limit: 0)
    let sorts = try connection.withStatement(statement.shape, of: query.model) { try $0.planSorts() }
    isSorted = sorts
    return sorts
  }
}

/// In order by an index or the key.
extension SQLiteResults {
  /// Reads rows by seeking; nil where it turns out that SQLite would have to sort for it.
  private func readInOrder(
    _ connection: SQLiteConnection, from offset: Int, _ wanted: Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Int? {
    let (first, overflow) = request.offset.addingReportingOverflow(offset)
    guard !overflow else { return 0 }
    var place = places.nearest(notAfter: first)
    if first - place.number > Self.passedOver {
      guard try walk(connection, from: place, to: first) else { return nil }
      place = places.nearest(notAfter: first)
    }
    var skipped = first - place.number
    if total != nil, skipped > Self.passedOver { return 0 }
    var count = 0
    var last: [PersistentValue]?
    let end = first &+ wanted < first ? Int.max : first + wanted
    let (rows, isFull) = try run(.rows, connection, after: place, limit: end - place.number) {
      statement, left in
      let cells = statement.cells(of: columns)
      let row = UnsafeBufferPointer(start: UnsafePointer(cells.baseAddress), count: columns.lent)
      while left > 0, try statement.step() {
        left -= 1
        if skipped > 0 {
          skipped -= 1
          continue
        }
        try statement.fill(cells, columns)
        try body(Row(cells: row))
        count += 1
        let number = first + count
        guard left == 0 || number % SQLiteKeysetBookmarks.distance == 0 else { continue }
        let values = try statement.values(orderColumns, of: orderPositions)
        if number % SQLiteKeysetBookmarks.distance == 0 { places.note(number, values) }
        if left == 0 { last = values }
      }
    }
    guard rows != nil else { return nil }
    if let last { places.noteRecent(end, last) }
    if !isFull, count < wanted { noteEnd(at: first + count, wasReached: skipped == 0) }
    return count
  }

  /// Notes where the rows end, once a page has come up short.
  private func noteEnd(at number: Int, wasReached: Bool) {
    guard wasReached, total == nil else { return }
    total = max(0, number - request.offset)
  }

  /// Walks over the order's fields only, noting places, up to a row; false where SQLite would have to sort.
  private func walk(_ connection: SQLiteConnection, from place: SQLiteKeysetBookmarks.Place, to number: Int)
    throws
    -> Bool
  {
    var position = place.number
    let (rows, _) = try run(.orderKeys, connection, after: place, limit: number - place.number) {
      statement, left in
      while left > 0, try statement.step() {
        left -= 1
        position += 1
        if position % SQLiteKeysetBookmarks.distance == 0 {
          places.note(position, try statement.values(orderPositions))
        }
      }
    }
    if rows != nil, position < number { noteEnd(at: position, wasReached: true) }
    return rows != nil
  }

  /// Runs the statements that yield the rows after a place, one after the other, until there are enough.
  ///
  /// - Parameters:
  ///   - kind: Rows, or their order's fields only.
  ///   - connection: Where they are read.
  ///   - place: The place.
  ///   - limit: How many rows at most.
  ///   - body: Steps through one statement, counting down how many rows are left to read.
  /// - Returns: How many rows there were, nil where a statement would have to sort, and whether the limit was
  ///   reached.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  private func run(
    _ kind: StatementKey.Kind, _ connection: SQLiteConnection, after place: SQLiteKeysetBookmarks.Place,
    limit: Int,
    _ body: (SQLiteStatement, inout Int) throws -> Void
  ) throws -> (rows: Int?, isFull: Bool) {
    guard let query else { return (0, false) }
    let values = place.values ?? request.after?.values
    let steps: [LoweredPredicate?] = values.map { query.ordered.steps(after: $0) } ?? [nil]
    var left = limit
    for step in steps {
      let statement = query.ordered.select(
        kind, kind == .rows ? columns.items : [], after: step, limit: left == Int.max ? nil : left)
      let isSorting = try connection.withStatement(statement.shape, of: query.model) { prepared in
        // Where rows have been handed out already, a step that sorts is taken as it is.
        if left == limit, try prepared.planSorts() { return true }
        try prepared.bind(statement.bindings)
        try body(prepared, &left)
        return false
      }
      if isSorting {
        isSorted = true
        return (nil, false)
      }
      if left == 0 { return (limit, true) }
    }
    return (limit - left, false)
  }
}

/// In an order that has to be sorted for.
extension SQLiteResults {
  private func readSorted(
    _ connection: SQLiteConnection, _ model: SQLiteModel, from offset: Int, _ wanted: Int,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    if let kept { return try kept.read(from: offset, wanted, body) }
    let query = try SQLQuery(request, includingAnchor: true, model: model.number)
    if offset == 0, wanted == (request.limit ?? Int.max) {
      // All of it at once: the rows themselves go through the sort, and nothing is kept.
      return try readAll(query, connection, model, body)
    }
    if !isLarge, let rows = try keep(query, connection, model) {
      return try rows.read(from: offset, wanted, body)
    }
    let (end, overflow) = offset.addingReportingOverflow(wanted)
    if !locators.isComplete, overflow || end > locators.count {
      let isFirst = !overflow && end <= Self.firstSort
      try locators.load(
        query, connection, model, offset: request.offset,
        limit: isFirst ? min(Self.firstSort, request.limit ?? Int.max) : request.limit, isAll: !isFirst)
    }
    if locators.isComplete { total = locators.count }
    return try locators.read(columns, connection, model, from: offset, wanted, body)
  }

  /// Keeps all rows; nil where there are too many, or one of them cannot be read, which is said where it is met.
  private func keep(_ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel) throws
    -> SQLiteBufferedRows?
  {
    let rows = SQLiteBufferedRows(columns, in: query.order, at: orderColumns)
    let statement = query.unordered(columns.items)
    isLarge = true
    try connection.withStatement(statement.shape, of: model) { prepared in
      try prepared.bind(statement.bindings)
      let cells = prepared.cells(of: columns)
      while try prepared.step() {
        guard prepared.firstMisfit(cells, columns) == nil, rows.append(cells) else { return }
      }
      isLarge = false
    }
    guard !isLarge else { return nil }
    rows.sort(offset: request.offset, limit: request.limit)
    kept = rows
    total = rows.count
    return rows
  }

  private func readAll(
    _ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let statement = query.select(.rows, columns.items, limit: request.limit, offset: request.offset)
    return try connection.withStatement(statement.shape, of: model) { prepared in
      try prepared.bind(statement.bindings)
      var count = 0
      while try prepared.step() {
        try prepared.withRow(columns, body)
        count += 1
      }
      total = count
      return count
    }
  }
}
