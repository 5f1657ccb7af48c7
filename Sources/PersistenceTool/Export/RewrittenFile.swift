import Foundation
import PersistencePrimitives

/// A kind of file that each run of a command replaces without `--force`, unless it holds something else.
enum RewrittenFile {
  /// The records that `import` or `migrate` rejected.
  case rejects
  /// The report of `migrate`.
  case report

  /// Checks that a file is missing, empty or of this kind.
  ///
  /// - Throws: ``ToolFailure``.
  func requireReplaceable(_ path: String, as name: String) throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return }
    guard let content = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped),
      isContent(content)
    else {
      let kind = self == .rejects ? "list of rejected records" : "report of migrate"
      throw ToolFailure.usage(
        "\(name): \(path) exists and is no earlier \(kind); name another file, or remove this one")
    }
  }

  /// Whether a file's content is of this kind.
  private func isContent(_ content: Data) -> Bool {
    switch self {
    case .rejects:
      // Lists of all versions have these members. A line has at most three texts of 64 KiB, which escapes lengthen.
      let line = content.prefix(2 << 20).prefix { $0 != 0x0A }
      return Self.isObject(line, with: ["place", "reason"], besides: ["key"])
        || Self.isObject(line, with: ["model", "position", "code", "reason"], besides: ["key", "record"])
    case .report:
      return Self.isObject(
        content, with: ["source", "destination", "outcome", "options"],
        besides: ["seconds", "report", "plan", "obstacles", "error", "resume"])
    }
  }

  private static func isObject(
    _ text: Data, with required: Set<String>, besides optional: Set<String>
  ) -> Bool {
    guard case .object(let members)? = text.withUnsafeBytes({ try? JSONParser.parse($0) }) else {
      return false
    }
    let names = Set(members.map(\.name))
    return names.isSuperset(of: required) && names.isSubset(of: required.union(optional))
  }
}
