import Foundation
import Testing

/// The guide "Changing your models".
struct Guide {
  private static let root = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  private let text: String

  init() throws {
    text = try String(
      contentsOf: Self.root.appendingPathComponent("Documentation/ChangingModels.md"), encoding: .utf8)
  }

  /// The code blocks of a language.
  func blocks(_ language: String) -> [String] {
    text.components(separatedBy: "```").filter { $0.hasPrefix("\(language)\n") }.map { block in
      block.dropFirst(language.count).trimmingCharacters(in: .newlines)
    }
  }

  /// The sources of the example app and of these tests, by name.
  static func sources() throws -> [String: String] {
    var sources: [String: String] = [:]
    for folder in ["Sources/EvolvingApp", "Tests/ChangingModelsTests"] {
      let folder = root.appendingPathComponent("Examples/Evolution/\(folder)")
      for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
        sources[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
      }
    }
    return sources
  }
}

@Suite("Guide: Changing your models")
struct GuideTests {
  /// The lines without their indentation, which a listing may reduce.
  private func lines(_ text: String) -> String {
    "\n" + text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
      + "\n"
  }

  @Test("each listing is part of a file that is compiled")
  func listings() throws {
    let sources = try Guide.sources().values.map(lines)
    let listings = try Guide().blocks("swift")
    #expect(listings.count > 10)
    for listing in listings {
      for part in listing.components(separatedBy: "// …\n").map(lines) {
        #expect(sources.contains { $0.contains(part) }, "no file contains this listing:\(part)")
      }
    }
  }
}
