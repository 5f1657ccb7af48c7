import Foundation
import Testing

@Suite("The guide “Write your own context”")
struct GuideTests {
  /// The folder of this package.
  private let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The pieces of code in the guide that name a file in their first line.
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

  @Test("every piece of code in it stands in the file that it names")
  func snippetsAreTrue() throws {
    let snippets = try snippets()
    #expect(snippets.count > 10)
    for (file, code) in snippets {
      let source = try String(contentsOf: package.appendingPathComponent(file), encoding: .utf8)
      for part in code.components(separatedBy: "// …\n") {
        #expect(source.contains(part), "not in \(file):\n\(part)")
      }
    }
  }
}
