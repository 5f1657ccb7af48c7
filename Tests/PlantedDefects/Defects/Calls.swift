import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// W7, V5: single calls that do a part of their work, or leave a part of it.
  static let calls: [PlantedDefect] = [
    PlantedDefect("delete by request deletes while it walks a fetch", .w7) { flaw in
      flaw.deleteRows = { request, transaction in
        var (offset, count) = (0, 0)
        while true {
          var keys: [RecordKey] = []
          _ = try transaction.wrapped.fetch(request).read(from: offset, limit: 100) {
            keys.append(try RecordKey(of: $0, in: request.schema))
          }
          guard !keys.isEmpty else { return count }
          for key in keys { _ = try transaction.wrapped.delete(key, in: request.schema) }
          offset += 100
          count += keys.count
        }
      }
    }.caught(by: "delete by request deletes all of its rows, however many pages they take"),
    PlantedDefect("delete by request returns the number of the model's records", .w7, isSemantic: false) {
      flaw in
      flaw.deleteRows = { request, transaction in
        let count = try transaction.wrapped.count(FetchRequest(request.schema))
        _ = try transaction.wrapped.delete(request)
        return count
      }
    }.caught(by: "delete by request deletes all of its rows, however many pages they take"),
    PlantedDefect("update by request updates its first page only", .w7, isSemantic: false) { flaw in
      flaw.updateRows = { request, transaction in
        let page = try request.rows.with { $0.limit = min($0.limit ?? 128, 128) }
        return try transaction.wrapped.update(UpdateRequest(page, set: request.assignments))
      }
    }.caught(by: "update by request updates all of its rows, however many pages they take"),
    PlantedDefect("update by request that fails leaves its first rows changed", .w7, isSemantic: false) {
      flaw in
      flaw.updateRows = { request, transaction in
        let schema = request.rows.schema
        let rows = try transaction.wrapped.rows(request.rows)
        for row in rows {
          var row = row
          for assignment in request.assignments {
            if let position = schema.position(of: assignment.field) { row[position] = assignment.value }
          }
          try transaction.wrapped.write(.update, row, in: schema)
        }
        return rows.count
      }
    }.caught(by: "a call that throws leaves its transaction as it was, rows and index entries"),
    PlantedDefect("a nested transaction that throws keeps its deletions", .w7, isSemantic: false) { flaw in
      let deleted = Remembered<[ModelSchema]>([])
      flaw.deleteAll = { schema, transaction in
        deleted.change { $0.append(schema) }
        return try transaction.wrapped.deleteAll(in: schema)
      }
      flaw.nested = { transaction, body in
        deleted.change { $0 = [] }
        do {
          try transaction.wrapped.nested(body)
        } catch {
          for schema in deleted.value { _ = try transaction.wrapped.deleteAll(in: schema) }
          throw error
        }
      }
    }.caught(by: "a call that throws leaves its transaction as it was, rows and index entries"),
    PlantedDefect("a write defines a model that is not defined", .w7, isSemantic: false) { flaw in
      flaw.write = { verb, row, schema, transaction in
        try transaction.wrapped.define(schema)
        try transaction.wrapped.write(verb, row, in: schema)
      }
    }.caught(by: "writing to a model that is not defined throws invalidRequest, and defines nothing"),
    PlantedDefect("a write to a model that is not defined is ignored", .w7, isSemantic: false) { flaw in
      flaw.write = { verb, row, schema, transaction in
        guard try transaction.wrapped.schema(named: schema.name) != nil else { return }
        try transaction.wrapped.write(verb, row, in: schema)
      }
    }.caught(by: "writing to a model that is not defined throws invalidRequest, and defines nothing"),
    PlantedDefect(
      "the average of integers is computed in doubles", .v5,
      opening: { _, options, monitoring in AveragingContext(memory(options, monitoring)) }
    ).caught(by: "averages of integers divide the exact sum, also beyond 2^53"),
  ]
}

/// A context that sums integers as doubles for an average.
private final class AveragingContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    let schema = request.rows.schema
    guard request.grouping.isEmpty, case .average(let field)? = request.aggregates.first,
      let position = schema.position(of: field), schema.fields[position].kind.isInteger
    else { return try wrapped.aggregate(request) }
    let numbers = try wrapped.rows(request.rows).compactMap { row -> Double? in
      if case .integer(let number) = row[position] { Double(number) } else { nil }
    }
    let average = numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    return [AggregateGroup(key: [], values: [average.map(PersistentValue.double) ?? .null])]
  }
}
