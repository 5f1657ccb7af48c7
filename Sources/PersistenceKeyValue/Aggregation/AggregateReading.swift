import PersistenceDriver
import PersistenceDriverSupport

/// Computes aggregates from the least data: the ends of an index, its entries, or some fields of the records.
struct AggregateReading {
  let request: AggregateRequest
  let binding: ModelBinding
  let reader: any ByteReader
  let location: String
  /// The store's cache; nil in a transaction.
  var cache: CatalogCache?

  private var rows: FetchRequest { request.rows }
  private var isCut: Bool { rows.limit != nil || rows.offset != 0 }
  private var indexes: [IndexSchema] { binding.readableIndexes }

  /// The groups, in ascending order of their keys.
  func groups() throws -> [AggregateGroup] {
    if request.grouping.isEmpty {
      if let values = try ends() { return [AggregateGroup(key: [], values: values)] }
    } else if !isCut, request.aggregates.allSatisfy({ $0 == .count }),
      let (plan, components) = AccessPlanner(rows, indexes: indexes).grouped(by: request.grouping),
      let cursor = try GroupCursor(request, binding, plan, components, reader),
      let groups = try cursor.groups()
    {
      return groups
    }
    let needs = AccessNeeds(fields: names, isOrdered: isCut)
    return try folded(
      PreparedQuery(rows, binding, reader, location: location, needs: needs, cache: cache))
  }

  /// The fields that the request names.
  private var names: [String] { request.grouping + request.aggregates.compactMap(\.field) }

  /// The values if each is a count or lies at an end of an index; nil otherwise.
  private func ends() throws -> [PersistentValue]? {
    var values: [PersistentValue] = []
    for aggregate in request.aggregates where aggregate != .count {
      guard !isCut, rows.after == nil, try end(aggregate) != nil else { return nil }
    }
    for aggregate in request.aggregates {
      if let query = try end(aggregate) {
        values.append(try first(of: query, aggregate))
      } else {
        let query = try PreparedQuery(
          rows, binding, reader, location: location, needs: .count, cache: cache)
        values.append(.integer(Int64(try query.count(reader))))
      }
    }
    return values
  }

  /// The query whose first row has the minimum or maximum; nil if no path has that order.
  private func end(_ aggregate: Aggregate) throws -> PreparedQuery? {
    let field: String
    let isGreatest: Bool
    switch aggregate {
    case .minimum(let name): (field, isGreatest) = (name, false)
    case .maximum(let name): (field, isGreatest) = (name, true)
    default: return nil
    }
    var predicate = rows.predicate
    if rows.schema.field(named: field)?.isOptional ?? true {
      let present = PredicateNode.comparison(field: field, .notEqual, .null)
      predicate = predicate.map { .conjunction($0, present) } ?? present
    }
    let request = try FetchRequest(
      rows.schema, where: predicate, order: [FieldOrder(field, isDescending: isGreatest)], limit: 1)
    let needs = AccessNeeds(fields: [field], isOrdered: true)
    guard let plan = AccessPlanner(request, indexes: indexes, needs: needs).exact() else { return nil }
    return try PreparedQuery(
      request, binding, .made(plan, isReused: false), longestKey: reader.longestKey, location: location)
  }

  /// The value of a field in the first row; null if there is no row.
  private func first(of query: PreparedQuery, _ aggregate: Aggregate) throws -> PersistentValue {
    guard let position = aggregate.field.flatMap({ binding.declared.position(of: $0) }) else { return .null }
    let cursor = try RowCursor(query, reader, filling: [position])
    defer { cursor.close() }
    guard try cursor.next() != nil else { return .null }
    return try cursor.row.withRow { try $0.value(at: position) }
  }

  /// Aggregates row by row, from the named fields.
  func folded(_ query: PreparedQuery) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    let positions = Set(names.compactMap { binding.declared.position(of: $0) }).sorted()
    if isCut {
      let results = try query.results(reader, BorrowedSource(reader), selecting: positions)
      let row = RowBuffer(count: binding.layout.count)
      _ = try results.read(from: 0, limit: Int.max) { selected in
        for (index, position) in positions.enumerated() { row.setCell(selected[index], at: position) }
        try row.withRow { try fold.add($0) }
      }
    } else {
      let cursor = try RowCursor(query, reader, filling: positions)
      defer { cursor.close() }
      while try cursor.next() != nil { try cursor.row.withRow { try fold.add($0) } }
    }
    return try fold.groups()
  }
}

/// A reader that is valid for one call.
private final class BorrowedSource: ByteSource, @unchecked Sendable {  // never leaves the call
  private let reader: any ByteReader

  init(_ reader: any ByteReader) { self.reader = reader }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result { try body(reader) }
}
