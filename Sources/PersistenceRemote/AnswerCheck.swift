import PersistenceDriver
import PersistenceDriverSupport

/// Checks that the records of an answer are those of its request: no more than asked for, and in order.
///
/// A proxy that mixes up answers, or a server that ignores a parameter, would otherwise give an app the records of
/// another request, or the same page for ever.
struct AnswerCheck {
  private let order: RowOrder?
  private let limit: Int?
  private var count = 0
  private var previous: [PersistentValue]?

  /// Prepares the check of a query's records.
  ///
  /// Only a server of this package sends them in the contract's order, and only the server knows an order by fields of
  /// related records.
  init(_ query: RemoteQuery, isOrdered: Bool) throws {
    limit = query.query.limit
    guard isOrdered, let request = query.request else {
      order = nil
      return
    }
    order = try RowOrder(request.totalOrder, in: request.schema)
    // An engine may store dates with less precision than the app's anchor has.
    let hasDate = request.after?.values.contains { if case .date = $0 { true } else { false } } ?? false
    previous = hasDate ? nil : request.after?.values
  }

  /// Checks the next record.
  ///
  /// - Throws: ``AnswerMismatch``.
  mutating func check(_ row: borrowing Row) throws {
    count += 1
    if let limit, count > limit {
      throw AnswerMismatch(reason: "it has more records than the limit of \(limit)")
    }
    guard let order else { return }
    let next = try order.key(of: row)
    if let previous, order.compare(previous, next) >= 0 {
      throw AnswerMismatch(reason: "its records are out of order, or repeated")
    }
    previous = next
  }

  /// Checks that a record is the one that the request names.
  ///
  /// - Throws: ``AnswerMismatch``.
  static func check(_ row: borrowing Row, has key: RecordKey, in schema: ModelSchema) throws {
    let found = try RecordKey(of: row, in: schema)
    guard RecordKey.compare(found, key) == 0 else {
      throw AnswerMismatch(reason: "it has the record of \(found) instead of \(key)")
    }
  }
}

/// Why an answer is not that of its request.
struct AnswerMismatch: Error {
  let reason: String
}
