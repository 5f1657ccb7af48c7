import Foundation
import Testing

@Suite("Guide: Write your own ordered store")
struct GuideTests {
  /// The folder of this example.
  private let example = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("each listing is part of the file that it names")
  func listings() throws {
    let guide = example.appendingPathComponent(
      "../../Sources/PersistenceKeyValue/Documentation.docc/WriteYourOwnOrderedStore.md")
    let start = "swift\n// "
    let blocks = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
      .filter { $0.hasPrefix(start) }
    #expect(blocks.count >= 5)
    for block in blocks {
      let lines = block.dropFirst(start.count).split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let source = try String(
        contentsOf: example.appendingPathComponent(String(lines[0])), encoding: .utf8)
      for part in lines[1].components(separatedBy: "// …\n") {
        #expect(source.contains(part), "\(lines[0]) does not contain this listing:\n\(part)")
      }
    }
  }

  @Test("the example has fewer than 300 lines of code")
  func size() throws {
    let folder = example.appendingPathComponent("Sources/OrderedFile")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    var count = 0
    for file in files where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
      count += lines.count { !$0.isEmpty && !$0.hasPrefix("//") }
    }
    #expect(files.count > 3 && count > 100 && count < 300, "\(count) lines")
  }
}
