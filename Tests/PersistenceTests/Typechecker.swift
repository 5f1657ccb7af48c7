import Foundation
import PersistenceConformance
import Testing

/// Runs the compiler that built these tests on a source that uses the library.
struct Typechecker {
  /// A diagnostic of the compiler.
  struct Remark: CustomStringConvertible {
    /// The line of the source, from 1.
    let line: Int
    let text: String

    var description: String { "\(line): \(text)" }
  }

  /// The scopes of the constraint solver after which the compiler gives an expression up; its default is a million.
  ///
  /// Unlike time, they do not depend on what else the machine does. These take about a second.
  static let limit = 20_000

  /// The directory of the modules that this process was built from.
  private static func modules() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let modules = folder.appendingPathComponent("Modules")
      let module = modules.appendingPathComponent("PersistenceCore.swiftmodule")
      if FileManager.default.fileExists(atPath: module.path) { return modules }
    }
    throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: CommandLine.arguments[0]])
  }

  /// The C module of the library's modules, which SwiftPM finds for its clients.
  private static let digestModule =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/CSHA256/include/module.modulemap").path

  /// The diagnostics of a source, which may use the model `Film`.
  static func remarks(on source: String) throws -> [Remark] {
    try remarks(on: [("Film.swift", film), ("Asked.swift", source)], [])
  }

  /// The diagnostics of a source that declares its models with the macros.
  static func remarks(onModels source: String, options: [String]) throws -> [Remark] {
    let plugin = try modules().deletingLastPathComponent().appendingPathComponent("PersistenceMacros-tool")
    return try remarks(
      on: [("Asked.swift", source)],
      ["-load-plugin-executable", "\(plugin.path)#PersistenceMacros"] + options)
  }

  private static func remarks(on sources: [(name: String, text: String)], _ options: [String]) throws
    -> [Remark]
  {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("persistence-typecheck-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = sources.map { (folder.appendingPathComponent($0.name), $0.text) }
    for (file, text) in files { try Data(text.utf8).write(to: file) }
    let (process, pipe) = try Process.started { process in
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments =
        [
          "swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm", "-module-name", "Asked",
          "-parse-as-library", "-I", try modules().path, "-Xcc", "-fmodule-map-file=\(digestModule)",
          "-Xfrontend", "-solver-scope-threshold=\(limit)",
        ] + options + files.map(\.0.path)
      let pipe = Pipe()
      process.standardError = pipe
      return pipe
    }
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let remarks = output.split(separator: "\n").compactMap { line -> Remark? in
      let parts = line.split(separator: ":", maxSplits: 3).map(String.init)
      guard parts.count == 4, parts[0].hasSuffix("/Asked.swift"), let number = Int(parts[1]) else {
        return nil
      }
      return Remark(line: number, text: String(parts[3].drop { $0 == " " }))
    }
    // A compiler that fails for another reason must not look like a success.
    let isWell = process.terminationStatus == 0
    try #require(isWell || remarks.contains { $0.text.hasPrefix("error:") }, "\(output)")
    return remarks
  }

  /// A model with the kinds of properties that the conditions use.
  private static let film = """
    import Foundation
    import PersistenceCore

    enum Rating: String, PersistentValueConvertible { case g = "G", pg = "PG", r = "R" }

    struct Film: PersistentRecord {
      var id: UUID
      var title: String
      var subtitle: String?
      var rating: Rating?
      var budget: Double
      var gross: Double?
      var year: Int
      var votes: Int64
      var isSeen: Bool
      var releasedAt: Date?

      static let schema = RecordSchema<Film>(
        "Film",
        fields: [
          .field("id", \\.id), .field("title", \\.title), .field("subtitle", \\.subtitle),
          .field("rating", \\.rating), .field("budget", \\.budget), .field("gross", \\.gross),
          .field("year", \\.year), .field("votes", \\.votes), .field("isSeen", \\.isSeen),
          .field("releasedAt", \\.releasedAt),
        ], key: [\\.id])
      var primaryKey: UUID { id }

      init(from row: borrowing Row) throws {
        id = try row.decode(at: 0)
        title = try row.decode(at: 1)
        subtitle = try row.decode(at: 2)
        rating = try row.decode(at: 3)
        budget = try row.decode(at: 4)
        gross = try row.decode(at: 5)
        year = try row.decode(at: 6)
        votes = try row.decode(at: 7)
        isSeen = try row.decode(at: 8)
        releasedAt = try row.decode(at: 9)
      }

      func encode(into row: RowBuffer) throws {}
    }
    """
}
