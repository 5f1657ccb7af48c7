import Foundation
import Testing

/// The listings of guides, which are parts of files that are compiled.
enum GuideListings {
  private static let root = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  /// The lines without their indentation and empty lines, which a listing may reduce.
  private static func lines(_ text: String) -> String {
    "\n" + text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
      + "\n"
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Expects each listing of a guide in one of some files of this folder.
  static func expect(in guide: String, partsOf files: [String], atLeast count: Int) throws {
    let guide = try text("Documentation/\(guide)")
    let sources = try files.map { lines(try text("Tests/RecipesTests/\($0)")) }
    let listings = guide.components(separatedBy: "```").filter { $0.hasPrefix("swift\n") }.map {
      $0.dropFirst(6)
    }
    #expect(listings.count >= count)
    for listing in listings {
      let part = lines(String(listing))
      #expect(sources.contains { $0.contains(part) }, "no file contains this listing:\(part)")
    }
  }
}
