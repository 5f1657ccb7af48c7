import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP

/// The fields of the records in an answer, and the rows that are fetched for them.
///
/// The rows of a selection have the selected fields, then those that only the token of the next page and
/// the inclusions need.
struct AnswerFields: Sendable {
  let writer: RecordWriter
  /// The positions of the fields to fetch; nil for whole rows.
  private let fetched: [Int]?
  /// The cells with the values of the total order; empty without tokens.
  private let anchor: [Int]
  /// The cells with the values that decide what is included.
  private let included: [Int]

  /// The fields of a query's answer, whose pages begin after a bookmark of an order; nil without tokens.
  init(_ query: WireQuery, _ order: PageOrder?, including positions: [Int] = []) {
    let schema = query.query.schema
    let hidden = (order?.positions ?? []) + positions
    var cells = hidden
    if var selection = query.selection {
      writer = RecordWriter(selection.map { schema.fields[$0] })
      cells = hidden.map { position in
        if let cell = selection.firstIndex(of: position) { return cell }
        selection.append(position)
        return selection.count - 1
      }
      fetched = selection
    } else {
      writer = RecordWriter(schema.fields)
      fetched = nil
    }
    anchor = Array(cells.prefix(hidden.count - positions.count))
    included = Array(cells.suffix(positions.count))
  }

  func fetch(_ request: AnswerableRequest) throws -> any StorageResults {
    try request.fetch(selecting: fetched)
  }

  /// The values that decide the position of a row in the order.
  func anchor(of row: borrowing Row) throws -> [PersistentValue] { try Self.values(anchor, of: row) }

  /// The values that decide what is included with a row.
  func included(of row: borrowing Row) throws -> [PersistentValue] { try Self.values(included, of: row) }

  private static func values(_ cells: [Int], of row: borrowing Row) throws -> [PersistentValue] {
    var values: [PersistentValue] = []
    for cell in cells { values.append(try row.value(at: cell)) }
    return values
  }
}
