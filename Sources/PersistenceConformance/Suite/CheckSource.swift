import Foundation

/// The source of a check, which failures quote if it is still where it was compiled.
enum CheckSource {
  /// The folder of the sources of this module.
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let longest = 12

  /// The statement that begins in a line of a file, or ends there, on one line; nil if the file cannot be read.
  static func statement(_ file: String, _ line: Int) -> String? {
    let parts = file.split(separator: "/").map(String.init)
    guard parts.count == 2, parts[0] == "PersistenceConformance", let url = files[parts[1]],
      let text = try? String(contentsOf: url, encoding: .utf8)
    else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard line > 0, line <= lines.count else { return nil }
    // A call with `#line` among its last arguments begins before.
    var first = line - 1
    var depth = openBrackets(lines[first])
    while depth < 0, first > 0, line - first < longest {
      first -= 1
      depth += openBrackets(lines[first])
    }
    var statement: [String] = []
    depth = 0
    for part in lines[first...].prefix(longest) {
      statement.append(part.trimmingCharacters(in: .whitespaces))
      depth += openBrackets(part)
      if depth <= 0 { break }
    }
    return statement.joined(separator: " ")
  }

  /// The number of brackets that a line opens, less those that it closes.
  private static func openBrackets(_ line: Substring) -> Int {
    line.reduce(0) { $0 + ("([{".contains($1) ? 1 : ")]}".contains($1) ? -1 : 0) }
  }

  /// The first argument of the expectation in a statement: what the context returned.
  static func expression(in statement: String?) -> String? {
    guard let statement, let call = statement.firstMatch(of: #/\b(?:expect|require)\w*\(/#) else {
      return nil
    }
    var (depth, isText, isEscaped, expression) = (0, false, false, "")
    for character in statement[call.range.upperBound...] {
      if isText {
        isText = isEscaped || character != "\""
        isEscaped = !isEscaped && character == "\\"
      } else if character == "\"" {
        isText = true
      } else if "([{".contains(character) {
        depth += 1
      } else if ")]}".contains(character) {
        depth -= 1
      }
      if depth < 0 || (depth == 0 && !isText && character == ",") { break }
      expression.append(character)
    }
    let trimmed = expression.trimmingCharacters(in: .whitespaces).replacing(#/^try /#, with: "")
    return trimmed.isEmpty ? nil : trimmed
  }

  /// The files of the module by their names.
  private static let files: [String: URL] = {
    var files: [String: URL] = [:]
    guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return files }
    for case let path as String in walk where path.hasSuffix(".swift") {
      let file = folder.appendingPathComponent(path)
      files[file.lastPathComponent] = file
    }
    return files
  }()
}
