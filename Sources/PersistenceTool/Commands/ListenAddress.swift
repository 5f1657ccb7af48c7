/// Where a server listens.
struct ListenAddress: Equatable {
  /// A name or an address, without brackets.
  let host: String
  let port: Int

  /// Reads `host:port`; an address that holds colons may stand in brackets.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
      let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
    else { return nil }
    let host = text[..<colon].trimmingPrefix("[")
    self.host = String(host.hasSuffix("]") ? host.dropLast() : host)
    self.port = port
  }

  /// The URL of what is served here, at a port that was chosen where this one is 0.
  func url(port: Int) -> String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
