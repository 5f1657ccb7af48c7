import PersistenceDriver
import PersistenceHTTP

extension StoreService {
  /// The records of a query: a stream of lines, or a page.
  func records(_ request: FetchRequest, _ served: ServiceRequest) throws -> Answer {
    var answer = try served.wantsLines ? lines(request) : page(request, served)
    guard answer.status == 200, served.wantsCount else { return answer }
    // Of all pages, so without their limits.
    let all = try FetchRequest(request.schema, where: request.predicate)
    answer.headers.append(("Content-Range", "records */\(try context.count(all))"))
    answer.headers.append(("Preference-Applied", "count=exact"))
    return answer
  }

  private func lines(_ request: FetchRequest) throws -> Answer {
    let lines = RecordLines(try context.fetch(request), request.schema)
    return Answer(
      status: 200, body: .stream(type: "application/x-ndjson", lines), isCompressible: true)
  }

  private func page(_ request: FetchRequest, _ served: ServiceRequest) throws -> Answer {
    if let limit = request.limit, limit > limits.pageSize {
      throw PersistenceError.invalidRequest(
        "a page has at most \(limits.pageSize) records; request application/x-ndjson to get more in one answer"
      )
    }
    let unwanted = try served.ifNoneMatchTags()
    let page = try RecordPage(
      request, limit: request.limit ?? limits.defaultPageSize, sizeLimit: limits.pageBytes, in: context)
    guard let whole = try page.whole() else {
      return Answer(status: 200, body: .stream(type: "application/json", page), isCompressible: true)
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
