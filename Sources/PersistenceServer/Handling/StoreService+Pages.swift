import PersistenceDriver
import PersistenceHTTP
import PersistenceDriverSupport

extension StoreService {
  /// The records of a query: all of them, one a line as they are read, or a page.
  func records(_ request: FetchRequest, _ served: ServedRequest) throws -> Answer {
    if served.wantsLines {
      return Answer(status: 200, body: .lines(RecordLines(try context.fetch(request), request.schema)))
    }
    if let limit = request.limit, limit > limits.pageSize {
      throw PersistenceError.invalidRequest(
        "a page has \(limits.pageSize) records at most; ask for application/x-ndjson to have more in one answer"
      )
    }
    return try page(request, limit: request.limit ?? limits.defaultPageSize)
  }

  private struct EndOfPage: Error {}

  private func page(_ request: FetchRequest, limit: Int) throws -> Answer {
    let schema = request.schema
    // One record more than the page has says whether there is another page.
    let asked = try FetchRequest(
      schema, where: request.predicate, order: request.order, limit: limit + 1, offset: request.offset,
      after: request.after)
    var (bytes, count, last, next) = (Array("{\"records\":[".utf8), 0, nil as PageAnchor?, nil as String?)
    let writer = RecordWriter(schema)
    let order = try RowOrder(request.totalOrder, in: schema)
    do {
      _ = try context.fetch(asked).read(from: 0, limit: limit + 1) { row in
        if count == limit || bytes.count > limits.pageBytes {
          next = try last.map { try PositionToken.text($0, of: request) }
          throw EndOfPage()
        }
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        try writer.append(row, to: &bytes)
        count += 1
        if count == limit || bytes.count > limits.pageBytes { last = PageAnchor(try order.key(of: row)) }
      }
    } catch is EndOfPage {}
    bytes.append(contentsOf: ("],\"next\":" + (next.map { "\"\($0)\"" } ?? "null") + "}").utf8)
    return Answer(status: 200, body: .json(String(decoding: bytes, as: UTF8.self)))
  }
}
