import PersistenceDriver
import PersistencePrimitives

/// Some records of another server's collection, as one answer has them.
struct MappedPage: Sendable {
  var records: [JSONValue]
  /// How many records the query has in all; nil where the answer does not say.
  var total: Int?
}

/// Reads the records of another server's collection, a page after another where it has pages.
///
/// It is used by one task at a time, as the iterators of asynchronous sequences are.
final class MappedPager: @unchecked Sendable {  // see above
  private let query: MappedQuery
  private let location: String
  private let read: @Sendable (String) async throws(PersistenceError) -> MappedPage
  private var page: ArraySlice<JSONValue> = []
  private var offset: Int
  private var left: Int
  private var isAtEnd = false
  /// The record that the last page began with.
  private var first: String?

  init(
    query: MappedQuery, location: String,
    read: @escaping @Sendable (String) async throws(PersistenceError) -> MappedPage
  ) {
    self.query = query
    self.location = location
    self.read = read
    offset = query.offset
    left = query.limit ?? .max
  }

  func next() async throws(PersistenceError) -> JSONValue? {
    while page.isEmpty, !isAtEnd, left > 0 { try await readMore() }
    guard left > 0, let record = page.popFirst() else { return nil }
    left -= 1
    return record
  }

  private func readMore() async throws(PersistenceError) {
    guard query.isPaged else { return try await readAll() }
    let wanted = min(max(1, query.mapping.pageSize), left)
    let answer = try await read(query.path(offset: offset, limit: wanted))
    let begin = answer.records.first.map(JSONText.canonical)
    guard begin == nil || begin != first else {
      throw malformed("it gives the same records again, however many are to be passed over")
    }
    first = begin
    page = answer.records[...]
    let (reached, overflow) = offset.addingReportingOverflow(page.count)
    offset = overflow ? .max : reached
    // A server may have a limit of its own for pages: a short one is not the last.
    isAtEnd = page.isEmpty || overflow || answer.total.map { offset >= $0 } ?? false
    if page.isEmpty { try require(offset, answer.total) }
  }

  /// Reads what comes in one answer: without a parameter to pass over records, those are passed over here.
  private func readAll() async throws(PersistenceError) {
    isAtEnd = true
    var wanted = Int.max
    if let limit = query.limit {
      let (sum, overflow) = limit.addingReportingOverflow(query.offset)
      if !overflow { wanted = sum }
    }
    let answer = try await read(query.path(offset: 0, limit: wanted))
    if answer.records.count < wanted { try require(answer.records.count, answer.total) }
    page = answer.records.dropFirst(query.offset)
  }

  /// Makes sure that an end is one.
  private func require(_ count: Int, _ total: Int?) throws(PersistenceError) {
    guard let total, count < total else { return }
    throw malformed("it ends after \(count) of \(total) records")
  }

  private func malformed(_ reason: String) -> PersistenceError {
    PersistenceError(
      .damaged, "the server's answer does not fit the mapping: \(reason)", location: location)
  }
}
