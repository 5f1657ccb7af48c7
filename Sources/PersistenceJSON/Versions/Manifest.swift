import PersistenceDriver
import PersistencePrimitives

/// The changes of a committed version: a journal entry, and afterwards the list of its history.
struct Manifest: Sendable {
  /// A file that the version changes.
  struct Change: Sendable {
    var folder: String
    var file: String
    var existed: Bool
    var exists: Bool
  }

  var changes: [Change]

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

  /// Whether a name refers to an entry of its folder, and not to another folder.
  private static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
      && !name.utf8.contains(0)
  }
}

extension Manifest {
  /// Reads a manifest; throws an error with code `damaged` if it is malformed.
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
        Self.isSafe(folder) || folder == ChecksumLedger.folderName, Self.isSafe(file)
      else { throw damage }
      return Change(folder: folder, file: file, existed: existed, exists: exists)
    }
  }
}
