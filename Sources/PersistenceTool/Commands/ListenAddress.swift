/// The address that a server listens on.
struct ListenAddress: Equatable {
  /// The host name or address, without brackets.
  let host: String
  let port: Int

  /// Parses `host:port`; brackets may enclose an IPv6 address.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
      let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
    else { return nil }
    let host = text[..<colon].trimmingPrefix("[")
    self.host = String(host.hasSuffix("]") ? host.dropLast() : host)
    self.port = port
  }

  /// The URL of the server, with its actual port.
  func url(port: Int, scheme: String = "http") -> String {
    "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
