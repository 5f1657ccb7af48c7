#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// A query in the parameters of another server.
  struct MappedQuery: Sendable {
    let limit: Int?
    let offset: Int
    let mapping: RemoteMapping
    private let path: String
    private var parameters: [(String, String)] = []

    /// Translates a request.
    ///
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the
    ///   server does not support the query.
    init(_ request: FetchRequest, _ mapping: RemoteMapping, at location: String) throws(PersistenceError) {
      self.mapping = mapping
      limit = request.limit
      offset = request.offset
      path = mapping.path(of: request.schema)
      guard request.after == nil else { throw .unsupported("start a query after a record", by: location) }
      for (name, value) in try Self.equalities(request.predicate, mapping, location) {
        guard let field = request.schema.field(named: name), !value.isNull else {
          throw .unsupported("filter by nil", by: location)
        }
        try add(mapping.member(of: name), ValueWriter.text(value, field.kind), location)
      }
      guard !request.order.isEmpty else { return }
      guard let sort = mapping.sort else { throw .unsupported("sort a query", by: location) }
      let order = request.order.map { ($0.isDescending ? "-" : "") + mapping.member(of: $0.field) }
      parameters.append((sort, order.joined(separator: ",")))
    }

    /// Adds a condition.
    ///
    /// A duplicate parameter is ambiguous, and one with another meaning would change the query.
    private mutating func add(_ name: String, _ text: String, _ location: String) throws(PersistenceError) {
      if parameters.contains(where: { $0.0 == name && $0.1 == text }) { return }
      guard !parameters.contains(where: { $0.0 == name }) else {
        throw .unsupported("filter by several values of “\(name)”", by: location)
      }
      guard ![mapping.sort, mapping.limit, mapping.offset].contains(name) else {
        throw .unsupported(
          "filter by “\(name)”, since the mapping uses that parameter otherwise", by: location)
      }
      parameters.append((name, text))
    }

    private static func equalities(_ node: PredicateNode?, _ mapping: RemoteMapping, _ location: String)
      throws(PersistenceError) -> [(String, PersistentValue)]
    {
      var found: [(String, PersistentValue)] = []
      for condition in node?.conjuncts ?? [] {
        switch condition {
        case .constant(true): continue
        case .comparison(let field, .equal, let value) where mapping.conditions == .equalities:
          found.append((field, value))
        default: throw .unsupported("filter by this predicate with the given mapping", by: location)
        }
      }
      return found
    }

    func path(offset: Int, limit: Int) -> String {
      var all = parameters
      if let name = mapping.limit { all.append((name, "\(limit)")) }
      if let name = mapping.offset, offset > 0 { all.append((name, "\(offset)")) }
      let text = all.map { PathSegment.escaped($0.0) + "=" + PathSegment.escaped($0.1) }.joined(
        separator: "&")
      return text.isEmpty ? path : path + "?" + text
    }

    var isPaged: Bool { mapping.limit != nil && mapping.offset != nil }
  }

  extension RemoteQuery {
    /// The query as one request, for a server that answers no others.
    func plainRequest(at location: String) throws(PersistenceError) -> FetchRequest {
      guard let request, inclusions.isEmpty else {
        throw .unsupported("answer conditions on related records, or include them,", by: location)
      }
      return request
    }
  }

  /// One page of records of a third-party server.
  struct MappedPage: Sendable {
    var records: [JSONValue]
    /// The total number of records; nil if the answer lacks it.
    var total: Int?
  }

  /// Reads the records of a third-party server, in pages if it supports them.
  final class MappedPager: @unchecked Sendable {  // one task at a time uses it
    private let query: MappedQuery
    private let location: String
    private let read: @Sendable (String) async throws(PersistenceError) -> MappedPage
    private var page: ArraySlice<JSONValue> = []
    private var offset: Int
    private var left: Int
    private var isAtEnd = false
    /// The first record of the previous page.
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
        throw malformed("two pages start with the same record, so the server ignores the offset")
      }
      first = begin
      page = answer.records[...]
      let (reached, overflow) = offset.addingReportingOverflow(page.count)
      offset = overflow ? .max : reached
      // A short page is not the last: the server may have a smaller page limit.
      isAtEnd = page.isEmpty || overflow || answer.total.map { offset >= $0 } ?? false
      if page.isEmpty { try require(offset, answer.total) }
    }

    /// Reads all records in one answer, and skips the offset locally.
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

    /// Checks that the end of the records is not premature.
    private func require(_ count: Int, _ total: Int?) throws(PersistenceError) {
      guard let total, count < total else { return }
      throw malformed("it ends after \(count) of \(total) records")
    }

    private func malformed(_ reason: String) -> PersistenceError {
      PersistenceError(
        .damaged, "the server's answer does not match the mapping: \(reason)", location: location)
    }
  }
#endif
