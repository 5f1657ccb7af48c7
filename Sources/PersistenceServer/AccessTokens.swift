#if HTTP
  import Foundation
  import PersistenceDriver
  import PersistencePrimitives

  /// The bearer tokens for reading and writing, stored as digests.
  public struct AccessTokens: Sendable {
    /// The permission of a request.
    enum Access: Int, Sendable, Comparable {
      case none
      case read
      case write

      static func < (left: Access, right: Access) -> Bool { left.rawValue < right.rawValue }
    }

    private let digests: [(digest: SHA256Digest, access: Access)]
    let isOpen: Bool

    /// Full access for everyone, for servers that only this machine can reach.
    public static let open = AccessTokens(digests: [], isOpen: true)

    private init(digests: [(SHA256Digest, Access)], isOpen: Bool) {
      self.digests = digests
      self.isOpen = isOpen
    }

    /// Creates a set of tokens.
    ///
    /// - Parameters:
    ///   - read: The tokens for reading.
    ///   - write: The tokens for reading and writing.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if there is no token, or
    ///   a token is too short, contains characters that a header cannot contain, or appears in both lists.
    public init(read: [String] = [], write: [String] = []) throws {
      guard !(read.isEmpty && write.isEmpty) else {
        throw PersistenceError(
          .invalidRequest, "there is no token, so no client would have access; add a token")
      }
      for token in read + write {
        guard token.utf8.count >= 16, token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
          throw PersistenceError(
            .invalidRequest, "a token must have at least 16 characters, all of them visible ASCII characters")
        }
      }
      guard Set(read).isDisjoint(with: write) else {
        throw PersistenceError(
          .invalidRequest, "a token appears both for reading and for writing; remove one")
      }
      self.init(
        digests: read.map { (Self.digest($0), .read) } + write.map { (Self.digest($0), .write) },
        isOpen: false)
    }

    /// What an Authorization header permits, and the number of its token.
    struct Grant: Sendable {
      var access = Access.none
      var token: Int?
    }

    /// What an Authorization header permits.
    ///
    /// It compares the digests of all tokens, so the time reveals nothing about them.
    func grant(authorization: String?) -> Grant {
      if isOpen { return Grant(access: .write) }
      // By bytes: a token is ASCII, so no other text can have its digest.
      guard let bytes = authorization?.utf8, bytes.count < 4096,
        bytes.starts(with: Self.scheme, by: { Self.lowercased($0) == $1 })
      else { return Grant() }
      let digest = SHA256.hash(data: bytes.dropFirst(Self.scheme.count))
      var grant = Grant()
      for (number, known) in digests.enumerated() where known.digest == digest {
        grant = Grant(access: max(grant.access, known.access), token: number)
      }
      return grant
    }

    /// The scheme of a header, whose letters may be of either case.
    private static let scheme = Array("bearer ".utf8)

    private static func lowercased(_ byte: UInt8) -> UInt8 {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func digest(_ token: String) -> SHA256Digest { SHA256.hash(data: token.utf8) }
  }
#endif
