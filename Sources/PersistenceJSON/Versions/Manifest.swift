import PersistenceDriver
import PersistencePrimitives

/// What one committed version changes: the journal's entry, and afterwards the key to what was there before.
struct Manifest: Sendable {
  /// One file that the version changes.
  struct Change: Sendable {
    /// The folder below the store's.
    var folder: String
    /// The file's name in it.
    var file: String
    /// Whether there was such a file before.
    var existed: Bool
    /// Whether there is one afterwards.
    var exists: Bool
  }

  var changes: [Change]

  /// The manifest as JSON.
  var text: [UInt8] {
    JSONText.pretty(
      .array(
        changes.map { change in
          .object([
            JSONMember("folder", .string(change.folder)), JSONMember("file", .string(change.file)),
            JSONMember("existed", .bool(change.existed)), JSONMember("exists", .bool(change.exists)),
          ])
        }))
  }

  init(changes: [Change]) { self.changes = changes }

  /// Reads a manifest.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged`.
  init(text: [UInt8], path: String) throws {
    let damage = PersistenceError.damaged("the journal file \(path) is damaged")
    guard case .array(let elements) = try? text.withUnsafeBytes({ try JSONParser.parse($0) }) else {
      throw damage
    }
    changes = try elements.map { element in
      guard case .string(let folder) = element.member("folder"),
        case .string(let file) = element.member("file"),
        case .bool(let existed) = element.member("existed"),
        case .bool(let exists) = element.member("exists"),
        Self.isSafe(folder), Self.isSafe(file)
      else { throw damage }
      return Change(folder: folder, file: file, existed: existed, exists: exists)
    }
  }

  /// Whether a name stays inside its folder.
  private static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
      && !name.utf8.contains(0)
  }
}
