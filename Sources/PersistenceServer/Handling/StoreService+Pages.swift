import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP

extension StoreService {
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
    let limit = query.query.limit ?? limits.defaultPageSize
    if limit > limits.pageSize {
      throw PersistenceError.invalidRequest(
        "a page has at most \(limits.pageSize) records; request application/x-ndjson to get more in one answer"
      )
    }
    let unwanted = try served.ifNoneMatchTags()
    let whole: (text: String, next: String?)
    if query.inclusions.isEmpty {
      let page = try RecordPage(query, limit: limit, sizeLimit: limits.pageBytes, in: self)
      guard let text = try page.whole() else {
        return Answer(status: 200, body: .stream(type: "application/json", page), isCompressible: true)
      }
      whole = text
    } else {
      whole = try IncludingPage(query, limit: limit, sizeLimit: limits.pageBytes, in: self).answer()
    }
    var headers: [(name: String, value: String)] = []
    if served.method != .post {
      // The tag is weak, because the page may be sent compressed.
      let tag = EntityTag(ofLine: whole.text)
      headers.append(("ETag", "W/" + tag.text))
      if let next = whole.next { headers.append(("Link", "<\(served.target(after: next))>; rel=\"next\"")) }
      guard unwanted?.matches(tag) != true else { return Answer(status: 304, headers: headers) }
    }
    return Answer(status: 200, headers: headers, body: .json(whole.text), isCompressible: true)
  }
}

extension ServiceRequest {
  /// Whether the client wants the number of all records of a query.
  var wantsCount: Bool {
    (prefer ?? "").split(whereSeparator: { $0 == "," || $0 == ";" })
      .contains { $0.filter { $0 != " " }.lowercased() == "count=exact" }
  }

  /// The path and parameters of the page that begins at a token.
  fileprivate func target(after token: String) -> String {
    let kept = (parameters ?? "").split(separator: "&").filter {
      let name = $0.prefix { $0 != "=" }
      return name != "after" && name != "offset"
    }
    return path.text + "?" + (kept + ["after=\(token)"]).joined(separator: "&")
  }
}
