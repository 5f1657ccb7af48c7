import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// A request divided between the server and the client.
///
/// The server evaluates each part of the condition that it evaluates exactly as the contract requires. The client
/// evaluates the rest, the residual, on the rows that the server yields. A limit never precedes a residual.
struct PostgresQuery {
  let request: FetchRequest
  let model: PostgresModel
  /// What the server answers.
  let lowered: SQLQuery
  /// What the client evaluates; nil for nothing.
  let residual: CompiledPredicate?
  /// The parts of the condition, for plans.
  let (native, rest): (PredicateNode?, PredicateNode?)

  init(_ request: FetchRequest, of model: PostgresModel, _ dialect: PostgresDialect) throws {
    self.request = request
    self.model = model
    let schema = request.schema
    var (natives, rests): ([PredicateNode], [PredicateNode]) = ([], [])
    for node in Self.condition(of: request)?.conjuncts ?? [] {
      // The evaluator takes any number of fields, so what SQL cannot express at all is a residual too.
      let isNative = (try? LoweredPredicate(node, in: schema, dialect)).map { !$0.callsEvaluator } ?? false
      if isNative { natives.append(node) } else { rests.append(node) }
    }
    var predicate = try LoweredPredicate(PredicateNode.conjunction(of: natives), in: schema, dialect)
    if predicate.callsEvaluator || predicate.bindings.count > Self.parameterLimit {
      (natives, rests) = ([], natives + rests)
      predicate = try LoweredPredicate(nil, in: schema, dialect)
    }
    (native, rest) = (PredicateNode.conjunction(of: natives), PredicateNode.conjunction(of: rests))
    residual = try rest.map { try CompiledPredicate($0, in: schema) }
    lowered = SQLQuery(
      predicate, order: try RowOrder(request.totalOrder, in: schema), in: schema, model: model.number)
  }

  /// A statement has at most 65,535 parameters.
  private static let parameterLimit = 60_000

  /// The condition with that of the anchor, and with a bound of the first criterion, which an index finds.
  private static func condition(of request: FetchRequest) -> PredicateNode? {
    guard let anchor = request.after, let value = anchor.values.first, !value.isNull,
      let first = request.totalOrder.first, request.totalOrder.count > 1,
      let field = request.schema.field(named: first.field)
    else { return request.predicateWithAnchor }
    // Descending, nil comes last, and a bound would exclude it.
    guard !first.isDescending || !field.isOptional else { return request.predicateWithAnchor }
    let bound = PredicateNode.comparison(
      field: first.field, first.isDescending ? .lessOrEqual : .greaterOrEqual, value)
    return request.predicateWithAnchor.map { .conjunction(bound, $0) }
  }

  /// The limit and the offset, as far as the server applies them.
  var page: (limit: Int?, offset: Int) { residual == nil ? (request.limit, request.offset) : (nil, 0) }

  /// The columns that hold some fields, and those that the residual reads.
  func columns(_ selected: [Int]?) -> PostgresColumns {
    guard let selected else { return model.columns }
    return PostgresColumns(selected, and: residual?.positions ?? [], of: request.schema)
  }

  /// The statement that yields the rows in order.
  func rows(_ columns: PostgresColumns, isOrdered: Bool = true) -> SQLStatement {
    let items = columns.positions.map { SQLItem(.field, $0) }
    guard isOrdered || page.limit != nil || page.offset > 0 else { return lowered.unordered(items) }
    return lowered.select(.rows, items, limit: page.limit, offset: page.offset)
  }
}

extension PostgresSession {
  /// How many rows a request has.
  func count(_ request: FetchRequest, of model: PostgresModel) throws -> Int {
    if request.limit == 0 { return 0 }
    let query = try PostgresQuery(request, of: model, store.dialect)
    let (end, overflow) = request.offset.addingReportingOverflow(request.limit ?? Int.max)
    let most = request.limit == nil || overflow ? Int.max : end
    var counted = 0
    if query.residual == nil {
      let statement = query.lowered.count(upTo: most == Int.max ? nil : most)
      let result = try run(try command(statement, of: model), "count the records of \(model.schema.name)")
      counted = Int(result.integer(0, 0) ?? 0)
    } else {
      try scan(query, selecting: [], isOrdered: false) { _ in
        counted += 1
        return counted < most
      }
    }
    return max(0, counted - request.offset)
  }

  /// Calls a closure with the matching rows of a request, without its limit and offset where a residual remains, until the
  /// closure returns false.
  func scan(
    _ query: PostgresQuery, selecting selected: [Int]?, isOrdered: Bool,
    _ body: (borrowing Row) throws -> Bool
  ) throws {
    let columns = query.columns(selected)
    let cursor = PostgresCursor(query, columns, isOrdered: isOrdered)
    defer { cursor.discard(self) }
    let reader = PostgresRowReader(query, columns)
    var position = 0
    while true {
      let (page, isLast) = try cursor.page(at: position, query.model.pageLimit, self)
      for row in 0..<page.count {
        if row & 0x3F == 0 { try ReadInterruption.check() }
        var goesOn = true
        _ = try reader.read(page, row) { goesOn = try body($0) }
        guard goesOn else { return }
      }
      if isLast { return }
      position += page.count
    }
  }
}

/// Reads the rows of pages, and evaluates the residual.
final class PostgresRowReader {
  private let columns: PostgresColumns
  private let residual: CompiledPredicate?
  private let model: PostgresModel
  private let row: RowBuffer
  /// The row with the model's positions, as the residual sees it; nil where these are the columns.
  private let whole: RowBuffer?

  init(_ query: PostgresQuery, _ columns: PostgresColumns) {
    self.columns = columns
    residual = query.residual
    model = query.model
    row = RowBuffer(count: columns.readers.count)
    let isWhole = columns.positions == Array(model.schema.fields.indices)
    whole = residual == nil || isWhole ? nil : RowBuffer(count: model.schema.fields.count)
  }

  /// Calls a closure with a row of a page; returns false if the residual excludes it.
  func read(_ page: PostgresResult, _ number: Int, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    do {
      try page.fill(row, row: number, columns)
    } catch let error as PersistenceError {
      throw error.at(model: model.schema.name)
    }
    if let residual {
      if let whole {
        for (column, position) in columns.positions.enumerated() {
          row.withRow { whole.setCell($0[column], at: position) }
        }
      }
      guard try (whole ?? row).withRow({ try residual.matches($0) }) else { return false }
    }
    let cells = UnsafeBufferPointer(start: UnsafePointer(row.storage), count: columns.selectedCount)
    try body(Row(cells: cells))
    return true
  }
}
