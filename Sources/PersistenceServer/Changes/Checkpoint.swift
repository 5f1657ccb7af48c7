#if HTTP
  import Foundation
  import PersistenceDriver
  import PersistenceHTTP

  /// A position in the changes of a model, as an opaque token for clients.
  ///
  /// The server checks it like any other input. A forged one can only name another position of the same model.
  struct Checkpoint: Equatable, Sendable {
    /// The unbroken sequence of changes to which the position belongs.
    var epoch: UUID
    /// The number of the last change before the position.
    var number: UInt64

    init(epoch: UUID, number: UInt64) { (self.epoch, self.number) = (epoch, number) }

    private static let size = 24

    var token: String {
      let numberBytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
      return Base64URL.text(withUnsafeBytes(of: epoch.uuid) { Array($0) } + numberBytes)
    }

    /// Reads a token.
    ///
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if it is not one.
    init(token: String) throws {
      // The canonical form only, so that equal checkpoints have equal tokens.
      guard token.utf8.count <= 64, let bytes = Base64URL.bytes(token), bytes.count == Self.size,
        Base64URL.text(bytes) == token
      else { throw PersistenceError.invalidRequest("“since” is not a checkpoint of this server") }
      var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes.prefix(16)) }
      epoch = UUID(uuid: id)
      number = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
#endif
