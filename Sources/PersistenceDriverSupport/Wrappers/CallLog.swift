import Logging
import PersistenceDriver

/// The log of a ``LoggingContext``: shapes at debug level, values at trace level.
struct CallLog: Sendable {
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  /// Whether the logger logs at debug level.
  var isOn: Bool { logger.logLevel <= .debug }

  /// Performs a call and logs the request, the duration and the outcome.
  ///
  /// - Parameters:
  ///   - shape: The request, without user values.
  ///   - values: The request with its values; nil if it has none.
  ///   - outcome: Describes the result, without values.
  ///   - body: The call.
  /// - Returns: The result of the call.
  /// - Throws: The error of the call.
  func call<Result>(
    _ shape: @autoclosure () -> String, values: @autoclosure () -> String? = nil,
    outcome: (Result) -> String, _ body: () throws -> Result
  ) throws -> Result {
    guard isOn else { return try body() }
    if logger.logLevel <= .trace, let values = values() {
      logger.trace("\(shape())", metadata: ["values": "\(values)"])
    }
    let start = ContinuousClock.now
    do {
      let result = try body()
      report(shape(), outcome(result), start)
      return result
    } catch {
      // Messages may contain keys and values; codes and type names do not.
      let code = (error as? PersistenceError)?.code.rawValue ?? "\(type(of: error))"
      report(shape(), "failed: \(code)", start)
      logger.trace("failed", metadata: ["error": "\(error)"])
      throw error
    }
  }

  private func report(_ shape: String, _ outcome: String, _ start: ContinuousClock.Instant) {
    let duration = ContinuousClock.now - start
    logger.debug("\(shape)", metadata: ["outcome": "\(outcome)", "duration": "\(duration)"])
  }
}

extension CallLog {
  func find(
    _ key: RecordKey, in schema: ModelSchema, _ reader: any StorageReader,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    try call("find \(schema.name) by key", values: "\(key)", outcome: { $0 ? "1 row" : "0 rows" }) {
      try reader.find(key, in: schema, body)
    }
  }

  func count(_ request: FetchRequest, _ reader: any StorageReader) throws -> Int {
    try call("count \(request.shape)", values: request.description, outcome: { "\($0) rows" }) {
      try reader.count(request)
    }
  }

  func schema(named name: String, _ reader: any StorageReader) throws -> ModelSchema? {
    try call("schema of \(name)", outcome: { $0 == nil ? "absent" : "present" }) {
      try reader.schema(named: name)
    }
  }

  func unmappedObjects(_ reader: any StorageReader) throws -> [UnmappedObject] {
    try call("unmapped objects", outcome: { "\($0.count) objects" }) { try reader.unmappedObjects() }
  }

  func aggregate(_ request: AggregateRequest, _ reader: any StorageReader) throws -> [AggregateGroup] {
    try call(request.shape, values: request.description, outcome: { "\($0.count) groups" }) {
      try reader.aggregate(request)
    }
  }

  func fetch(_ request: FetchRequest, _ reader: any StorageReader) throws -> any StorageResults {
    try call("fetch \(request.shape)", values: request.description, outcome: { _ in "ready" }) {
      try reader.fetch(request)
    }
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int], _ reader: any StorageReader) throws
    -> any StorageResults
  {
    let fields = positions.map {
      request.schema.fields.indices.contains($0) ? request.schema.fields[$0].name : "?"
    }
    return try call(
      "fetch \(fields.joined(separator: ", ")) of \(request.shape)", values: request.description,
      outcome: { _ in "ready" }
    ) {
      try reader.fetch(request, selecting: positions)
    }
  }

  func plan(for request: FetchRequest, selecting positions: [Int]?, _ reader: any StorageReader) throws
    -> QueryPlan
  {
    try call("plan \(request.shape)", outcome: { $0.description }) {
      if let positions { return try reader.plan(for: request, selecting: positions) }
      return try reader.plan(for: request)
    }
  }

  func write(
    _ verb: String, _ row: borrowing Row, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void
  ) throws {
    guard isOn else { return try body(row) }
    // A closure cannot capture a borrowed row, so its cells are copied.
    let values =
      logger.logLevel <= .trace
      ? (try? row.values()).map { "[" + $0.map(\.loggedDescription).joined(separator: ", ") + "]" } : nil
    let cells = (0..<row.count).map { row[$0] }
    try call("\(verb) \(schema.name)", values: values, outcome: { _ in "1 row" }) {
      try cells.withUnsafeBufferPointer { try body(Row(cells: $0)) }
    }
  }
}
