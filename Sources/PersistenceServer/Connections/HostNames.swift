#if HTTP
  /// The names by which clients may address a server, in the header Host.
  ///
  /// A web page can make its own name lead to an address of the reader's machine. Its requests then have that name, so a
  /// server without tokens must not answer them.
  struct HostNames: Sendable {
    /// The names in lower case; nil permits all.
    private let names: Set<String>?

    /// The names of this machine, for itself.
    static let loopback = ["localhost", "127.0.0.1", "[::1]"]

    /// Creates the set of names; nil permits all.
    init(_ names: [String]?) { self.names = names.map { Set($0.map(Self.normal)) } }

    /// Whether a valid value of the header Host has a permitted name.
    func contains(_ host: String) -> Bool {
      guard let names else { return true }
      return Self.name(in: host).map { names.contains(Self.normal($0)) } ?? false
    }

    /// The name or address in a value of the header Host, with the brackets of an IPv6 address; nil if it is malformed.
    static func name(in host: String) -> String? {
      let bytes = Array(host.utf8)
      var end = bytes.count
      if bytes.first == UInt8(ascii: "[") {
        guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let address = bytes[1..<bracket]
        guard !address.isEmpty, address.allSatisfy({ isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else {
          return nil
        }
        end = bracket + 1
      } else {
        end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
        guard end > 0, bytes[..<end].allSatisfy(isNameByte) else { return nil }
      }
      if end < bytes.count {
        let port = bytes[(end + 1)...]
        guard bytes[end] == UInt8(ascii: ":"), port.count <= 5,
          port.allSatisfy({ (0x30...0x39).contains($0) })
        else {
          return nil
        }
      }
      return String(decoding: bytes[..<end], as: UTF8.self)
    }

    private static func normal(_ name: String) -> String {
      let name = name.lowercased()
      if name.contains(":"), !name.hasPrefix("[") { return "[\(name)]" }
      return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x2E
        || byte == 0x5F
    }
  }
#endif
