import PersistenceDriver
import PersistenceHTTP

/// The fields of the records in an answer, and the rows that are fetched for them.
///
/// The rows of a selection have the selected fields, then those that only the token of the next page needs.
struct AnswerFields: Sendable {
  let writer: RecordWriter
  /// The positions of the fields to fetch; nil for whole rows.
  private let fetched: [Int]?
  /// The cells with the values of the total order; empty without tokens.
  private let anchor: [Int]

  init(_ query: WireQuery, hasTokens: Bool) throws {
    let (request, schema) = (query.request, query.request.schema)
    let order = try hasTokens ? request.totalOrder.map { try schema.requiredPosition(of: $0.field) } : []
    guard var selection = query.selection else {
      (writer, fetched, anchor) = (RecordWriter(schema.fields), nil, order)
      return
    }
    writer = RecordWriter(selection.map { schema.fields[$0] })
    anchor = order.map { position in
      if let cell = selection.firstIndex(of: position) { return cell }
      selection.append(position)
      return selection.count - 1
    }
    fetched = selection
  }

  func fetch(_ request: FetchRequest, in reader: any StorageReader) throws -> any StorageResults {
    try fetched.map { try reader.fetch(request, selecting: $0) } ?? reader.fetch(request)
  }

  /// The position of a row in the total order.
  func anchor(of row: borrowing Row) throws -> PageAnchor {
    var values: [PersistentValue] = []
    for cell in anchor { values.append(try row.value(at: cell)) }
    return PageAnchor(values)
  }
}
