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
    let condition = Self.condition(of: request)
    let order = try SQLOrder(request.totalOrder, in: schema)
    // Most conditions are native as a whole, and lowered once. Others are divided.
    if model.foreign == nil, let whole = try? LoweredPredicate(condition, in: schema, dialect),
      !whole.callsEvaluator, whole.bindings.count <= Self.parameterLimit
    {
      (native, rest, residual) = (condition, nil, nil)
      lowered = SQLQuery(whole, order: order, model: model.number, isPlannedAnew: request.isPlannedAnew)
      return
    }
    var (natives, rests): ([PredicateNode], [PredicateNode]) = ([], [])
    for node in condition?.conjuncts ?? [] {
      // The evaluator takes any number of fields, so what SQL cannot express at all is a residual too.
      let native = model.foreign.map { PostgresForeignCondition(schema, $0).condition(node) } ?? node
      let isNative =
        native.flatMap { try? LoweredPredicate($0, in: schema, dialect) }.map { !$0.callsEvaluator } ?? false
      if isNative, let native { natives.append(native) } else { rests.append(node) }
    }
    var predicate = try LoweredPredicate(PredicateNode.conjunction(of: natives), in: schema, dialect)
    if predicate.callsEvaluator || predicate.bindings.count > Self.parameterLimit {
      (natives, rests) = ([], natives + rests)
      predicate = try LoweredPredicate(nil, in: schema, dialect)
    }
    (native, rest) = (PredicateNode.conjunction(of: natives), PredicateNode.conjunction(of: rests))
    residual = try rest.map { try CompiledPredicate($0, in: schema) }
    lowered = SQLQuery(predicate, order: order, model: model.number, isPlannedAnew: request.isPlannedAnew)
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
    return PostgresColumns(selected, and: residual?.positions ?? [], of: request.schema, model.foreign)
  }

  /// The statement that yields the rows in order, up to a number that is at most the limit of the page.
  func rows(_ columns: PostgresColumns, isOrdered: Bool = true, upTo most: Int? = nil) -> SQLStatement {
    let items = columns.positions.map { SQLItem(.field, $0) }
    guard isOrdered || page.limit != nil || page.offset > 0 else { return lowered.unordered(items) }
    return lowered.select(.rows, items, limit: most ?? page.limit, offset: page.offset)
  }
}

/// Counting.
extension PostgresQuery {
  /// How many rows a count needs to see, with those that the offset skips; nil for all.
  var mostCounted: Int? {
    guard let limit = request.limit else { return nil }
    if limit == 0 { return 0 }
    let (end, overflow) = request.offset.addingReportingOverflow(limit)
    return overflow ? nil : end
  }

  /// The statement that counts the rows; nil where a residual remains.
  var count: SQLStatement? { residual == nil ? lowered.count(upTo: mostCounted) : nil }

  /// How many rows the request has, by the answer to the statement that counts them.
  func counted(_ answer: PostgresResult) -> Int { max(0, Int(answer.integer(0, 0) ?? 0) - request.offset) }
}
