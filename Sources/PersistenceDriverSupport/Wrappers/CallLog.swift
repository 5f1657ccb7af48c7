import Logging
import PersistenceDriver

/// The log of a ``LoggingContext``: shapes at debug level, values at trace level.
struct CallLog: Sendable {
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  /// Whether the logger logs at debug level.
  var isOn: Bool { logger.logLevel <= .debug }

  /// Performs a call and logs the request, the duration and the outcome; only `values` contains user values.
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
