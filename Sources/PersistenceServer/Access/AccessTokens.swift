import Crypto
import Foundation
import PersistenceDriver

/// Who may read and who may write: bearer tokens, of which only digests are kept.
public struct AccessTokens: Sendable {
  /// What a request may do.
  public enum Access: Int, Sendable, Comparable {
    /// Nothing.
    case none
    /// Read.
    case read
    /// Read and write.
    case write

    /// Whether one may do less than another.
    public static func < (left: Access, right: Access) -> Bool { left.rawValue < right.rawValue }
  }

  private let digests: [(digest: SHA256.Digest, access: Access)]
  private let isOpen: Bool

  /// Everybody may do everything: for stores that nobody but this machine can reach.
  public static let open = AccessTokens(digests: [], isOpen: true)

  private init(digests: [(SHA256.Digest, Access)], isOpen: Bool) {
    self.digests = digests
    self.isOpen = isOpen
  }

  /// Takes tokens.
  ///
  /// - Parameters:
  ///   - read: Those that may read.
  ///   - write: Those that may read and write.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where there is none, one is too
  ///   short to be a secret or holds what a header cannot, or one stands in both lists.
  public init(read: [String] = [], write: [String] = []) throws {
    guard !(read.isEmpty && write.isEmpty) else {
      throw PersistenceError(.invalidRequest, "no token is given, so nobody could be served")
    }
    for token in read + write {
      guard token.utf8.count >= 16, token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
        throw PersistenceError(
          .invalidRequest, "a token has at least 16 characters, all of them visible and of ASCII")
      }
    }
    guard Set(read).isDisjoint(with: write) else {
      throw PersistenceError(.invalidRequest, "a token is given both for reading and for writing")
    }
    self.init(
      digests: read.map { (Self.digest($0), .read) } + write.map { (Self.digest($0), .write) }, isOpen: false)
  }

  /// What a request with this Authorization header may do.
  ///
  /// Every token is compared, and each by its digest, so that the time tells nothing of any of them.
  func access(authorization: String?) -> Access {
    if isOpen { return .write }
    guard let authorization, authorization.utf8.count < 4096,
      authorization.prefix(7).lowercased() == "bearer "
    else { return .none }
    let digest = Self.digest(String(authorization.dropFirst(7)))
    var access = Access.none
    for known in digests where known.digest == digest { access = max(access, known.access) }
    return access
  }

  private static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(data: Data(token.utf8)) }
}
