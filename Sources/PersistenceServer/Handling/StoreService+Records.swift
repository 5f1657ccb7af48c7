#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import Synchronization

  extension StoreService {
    /// The query of a request, from its body or from its URL.
    func query(
      _ name: String, _ request: ServiceRequest, _ names: Set<String> = WireQuery.parameters
    ) throws -> WireQuery {
      let schema = try schema(name, in: context)
      if isUnmapped { known.keep(schema) }
      let relations = StoredRelations(context, declared: declared)
      guard request.method == .post else {
        return try WireQuery(
          try request.parameters(known: names), schema, relations: relations, limits: queryLimits)
      }
      _ = try request.parameters(known: [])
      return try WireQuery(request.json(), schema, relations: relations, limits: queryLimits, known: names)
    }

    /// The records of a query: a stream of lines, or a page.
    func records(_ query: WireQuery, _ served: ServiceRequest) throws -> Answer {
      // A page has a weak tag or none, and weak tags never match here (RFC 9110, 13.1.1).
      if let wanted = try served.ifMatchTags(), wanted != .any {
        throw Problem(
          status: 412, .conflict,
          "the tag of a page is weak, and If-Match needs a strong one; use If-None-Match",
          model: query.query.schema.name)
      }
      var answer = try served.wantsLines ? lines(query) : page(query, served)
      guard answer.status == 200, served.wantsCount else { return answer }
      // Of all pages, so without their limits.
      let all = RelatedQuery(query.query.schema, where: query.query.predicate)
      answer.headers.append(("Content-Range", "records */\(try count(all))"))
      answer.headers.append(("Preference-Applied", "count=exact"))
      return answer
    }

    private func lines(_ query: WireQuery) throws -> Answer {
      guard query.inclusions.isEmpty else {
        throw PersistenceError.invalidRequest("lines have no included records; request application/json")
      }
      let lines = try RecordLines(query, in: self)
      return Answer(
        status: 200, body: .stream(type: "application/x-ndjson", lines), isCompressible: true)
    }

    private func page(_ query: WireQuery, _ served: ServiceRequest) throws -> Answer {
      let limit = try pageLimit(of: query)
      let unwanted = try served.ifNoneMatchTags()
      guard query.inclusions.isEmpty else {
        let whole = try IncludingPage(query, limit: limit, sizeLimit: limits.pageBytes, in: self).answer()
        return answer(whole.bytes, next: whole.next, served, unwanted)
      }
      let asked = try answerable(query, limit: limit + 1)
      let form = PageForm(query, asked.order, limit: limit, sizeLimit: limits.pageBytes, writer)
      return answer(try RecordPage(form, asked.request), served, unwanted)
    }

    /// A page by a schema that the store had earlier; nil if it may have another one, or the answer takes more than a page.
    func page(in model: KnownModels.Model, _ served: ServiceRequest) throws -> Answer? {
      guard !served.wantsLines, !served.wantsCount, served.ifMatch == nil else { return nil }
      let prepared: PreparedPages.Page
      let unwanted: EntityTag.List?
      do {
        prepared = try preparedPage(served, of: model)
        unwanted = try served.ifNoneMatchTags()
      } catch {
        // The present schema decides.
        return nil
      }
      let answer: Answer
      let isEmpty: Bool
      if let whole = try prepared.whole() {
        answer = self.answer(whole.bytes, next: whole.next, served, unwanted, link: prepared.link)
        isEmpty = whole.isEmpty
      } else {
        let page = try RecordPage(prepared.form, prepared.request)
        answer = self.answer(page, served, unwanted, link: prepared.link)
        isEmpty = page.isEmpty
      }
      // A model that was renamed or dropped has no records under its name.
      guard try !isEmpty || context.schema(named: model.schema.name) == model.schema else {
        known.forget(model.schema)
        return nil
      }
      return answer
    }

    /// The answer with a brief page; nil if it must be read in another way.
    func answer(_ page: PreparedPages.Page, to served: ServiceRequest) throws -> Answer? {
      try context.requireComplete()
      do {
        let unwanted = try served.ifNoneMatchTags()
        // Without records, the store may lack the model.
        guard let whole = try page.whole(), !whole.isEmpty else { return nil }
        return answer(whole.bytes, next: whole.next, served, unwanted, link: page.link)
      } catch let error as PersistenceError where error.code == .schemaMismatch && error.differences.isEmpty {
        // The other way meets the change too, and forgets the schema.
        return nil
      }
    }

    /// The number of records of a page.
    func pageLimit(of query: WireQuery) throws -> Int {
      let limit = query.query.limit ?? limits.defaultPageSize
      guard limit <= limits.pageSize else {
        throw PersistenceError.invalidRequest(
          "a page has at most \(limits.pageSize) records; request application/x-ndjson to get more in one answer"
        )
      }
      return limit
    }

    private func answer(
      _ page: RecordPage, _ served: ServiceRequest, _ unwanted: EntityTag.List?, link: String? = nil
    ) -> Answer {
      guard let whole = page.whole() else {
        return Answer(status: 200, body: .stream(type: "application/json", page), isCompressible: true)
      }
      return answer(whole.bytes, next: whole.next, served, unwanted, link: link)
    }

    /// The answer of a whole page; `link` is the start of the link to the next one, if it is known.
    private func answer(
      _ bytes: [UInt8], next: String?, _ served: ServiceRequest, _ unwanted: EntityTag.List?,
      link: String? = nil
    ) -> Answer {
      var answer = Answer(status: 200, body: .json(bytes), isCompressible: true)
      guard served.method != .post else { return answer }
      // The tag is weak, because the page may be sent compressed.
      let tag = EntityTag(ofLine: bytes)
      answer.tag = "W/" + tag.text
      if let next {
        let link = link ?? "<\(served.path.text)?\(served.nextParameters)"
        answer.headers.append(("Link", link + next + ">; rel=\"next\""))
      }
      guard unwanted?.matches(tag) != true else {
        return Answer(status: 304, headers: answer.headers, tag: answer.tag)
      }
      return answer
    }
  }

  extension ServiceRequest {
    /// Whether the client wants the number of all records of a query.
    var wantsCount: Bool {
      (prefer ?? "").split(whereSeparator: { $0 == "," || $0 == ";" })
        .contains { $0.filter { $0 != " " }.lowercased() == "count=exact" }
    }

    /// The parameters of the next page, before its token.
    var nextParameters: String {
      let kept = (parameters ?? "").split(separator: "&").filter {
        let name = $0.prefix { $0 != "=" }
        return name != "after" && name != "offset"
      }
      return (kept + ["after="]).joined(separator: "&")
    }
  }

  extension StoreService {
    /// The request of a query and the order of its pages; a query that asks of related records reads one moment.
    func answerable(_ query: WireQuery, limit: Int? = nil) throws -> (
      request: AnswerableRequest, order: PageOrder
    ) {
      let reader = try reader(isRelated: query.query.isRelated || !query.inclusions.isEmpty)
      var asked = query.query
      if let limit { asked.limit = limit }
      let order = try asked.pageOrder(by: reader, declared: declared)
      let request = try asked.answered(
        by: reader, declared: declared, after: query.anchor(in: order), keyLimit: limits.relatedKeys)
      return (request, order)
    }

    /// Counts the records of a query.
    func count(_ query: RelatedQuery) throws -> Int {
      let reader = try reader(isRelated: query.isRelated)
      return try query.answered(by: reader, declared: declared, keyLimit: limits.relatedKeys).count()
    }

    private func reader(isRelated: Bool) throws -> any StorageReader {
      if isRelated { return try context.snapshot() }
      return context
    }
  }

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
    ///
    /// `known` is the writer of whole records, if there is one already.
    init(
      _ query: WireQuery, _ order: PageOrder?, _ known: RecordWriter? = nil, including positions: [Int] = []
    ) {
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
        writer = known ?? RecordWriter(schema.fields)
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

  /// The body of a streamed answer, in chunks, for one request.
  protocol AnswerStream: Sendable {
    /// The next bytes; nil at the end.
    func next() throws -> [UInt8]?
  }

  /// The records of a query as lines, in chunks, for a streamed answer.
  ///
  /// It holds a snapshot while it exists. One request uses it.
  final class RecordLines: AnswerStream {
    private let results: any StorageResults
    private let writer: RecordWriter
    private let progress = Mutex(Progress())

    private struct Progress {
      var offset = 0
      var rows = 64
      var isAtEnd = false
    }

    private struct EndOfChunk: Error {}

    /// The maximum size of a chunk in bytes, apart from its last record.
    private static let chunkSize = 128 << 10

    init(_ query: WireQuery, in service: StoreService) throws {
      let fields = AnswerFields(query, nil, service.writer)
      writer = fields.writer
      results = try fields.fetch(service.answerable(query).request)
    }

    /// The next lines; nil at the end.
    func next() throws -> [UInt8]? {
      var progress = progress.withLock(\.self)
      if progress.isAtEnd { return nil }
      var (bytes, read) = ([UInt8](), 0)
      do {
        _ = try results.read(from: progress.offset, limit: progress.rows) { row in
          // The estimated number of rows can be too high, since records have no size limit.
          guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
          try writer.append(row, to: &bytes)
          bytes.append(UInt8(ascii: "\n"))
          read += 1
        }
        progress.isAtEnd = read < progress.rows
      } catch is EndOfChunk {}
      progress.offset += read
      // Estimate the rows of the next chunk from the size of these.
      if read > 0 { progress.rows = min(4096, max(1, Self.chunkSize * read / max(1, bytes.count))) }
      let next = progress
      self.progress.withLock { $0 = next }
      return bytes.isEmpty ? nil : bytes
    }
  }
#endif
