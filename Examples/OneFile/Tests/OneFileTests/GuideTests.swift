import Foundation
import Testing

@Suite("Guide: Write your own context")
struct GuideTests {
  /// The folder of this package.
  private let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the guide's listings whose first line names a file.
  private func snippets() throws -> [(file: String, code: String)] {
    let guide = package.appendingPathComponent(
      "../../Sources/PersistenceConformance/Documentation.docc/WriteYourOwnContext.md")
    let blocks = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
    return blocks.compactMap { block in
      guard block.hasPrefix("swift\n// ") else { return nil }
      let lines = block.dropFirst("swift\n// ".count)
      guard let end = lines.firstIndex(of: "\n") else { return nil }
      return (String(lines[..<end]), String(lines[lines.index(after: end)...]))
    }
  }

  @Test("each listing is part of the file that it names")
  func snippetsAreTrue() throws {
    let snippets = try snippets()
    #expect(snippets.count > 10)
    for (file, code) in snippets {
      let source = try String(contentsOf: package.appendingPathComponent(file), encoding: .utf8)
      for part in code.components(separatedBy: "// …\n") {
        #expect(source.contains(part), "\(file) does not contain this listing:\n\(part)")
      }
    }
  }
}
