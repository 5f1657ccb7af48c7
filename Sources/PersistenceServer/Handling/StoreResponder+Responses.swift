import HTTPTypes
import Hummingbird
import PersistenceHTTP

extension StoreResponder {
  func response(_ answer: Answer, to request: Request, of client: Client) -> Response {
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    let isHead = request.method == .head
    let isRead = isHead || request.method == .get
    // A private cache may keep an answer that it can check again; a shared one must not.
    headers[.cacheControl] =
      isRead && answer.status < 400 && headers[.eTag] != nil ? "private, no-cache" : "no-store"
    if isRead {
      headers.append(HTTPField(name: .vary, value: "Accept"))
      headers.append(HTTPField(name: .vary, value: "Authorization"))
    }
    if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
    if answer.isCompressible { headers.append(HTTPField(name: .vary, value: "Accept-Encoding")) }
    if answer.isCompressible, !isHead, let name = HTTPField.Name(RequestGuard.compressionMark) {
      headers[name] = "1"
    }
    let body: ResponseBody
    switch answer.body {
    case .none: body = ResponseBody()
    case .json(let text): body = whole(text, "application/json", &headers)
    case .problem(let text): body = whole(text, Problem.mediaType, &headers)
    case .text(let text): body = whole(text, "text/plain; version=0.0.4; charset=utf-8", &headers)
    case .stream(let type, let stream):
      headers[.contentType] = type
      // Releasing the closure releases the stream and its snapshot: at the end, or when a write fails because the
      // client has gone.
      body = isHead ? ResponseBody { try await $0.finish(nil) } : streamed(stream, client)
    case .events(let stream):
      headers[.contentType] = "text/event-stream"
      body = self.body(stream, client)
    }
    let response = Response(status: .init(code: answer.status), headers: headers, body: body)
    if isHead, case .stream = answer.body { return response }
    return isHead ? response.createHeadResponse() : response
  }
}
