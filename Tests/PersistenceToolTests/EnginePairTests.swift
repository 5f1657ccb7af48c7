import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration
import PersistenceTool
import Testing

@Suite("Migration between all pairs of engines")
struct EnginePairTests {
  /// Every engine of this build, and memory.
  static let schemes = ToolEngines.ofFiles.map(\.scheme) + ["memory"]

  private func open(_ scheme: String, _ folder: TemporaryFolder, _ name: String) throws -> any StorageContext
  {
    let text = scheme == "memory" ? "memory:" : "\(scheme):\(folder(name))"
    let context = try StorageEngine.open(text, engines: ToolEngines.ofFiles, monitoring: Monitoring())
    return try #require(context as? any StorageContext)
  }

  private func fill(_ store: any StorageContext) throws {
    let pair = try ModelSchema(
      name: "sqlite_../Pair",
      fields: [FieldSchema("A", .string), FieldSchema("a", .uuid), FieldSchema("sqlite_x", .double)],
      key: ["A", "a"], indexes: [IndexSchema(["sqlite_x"])])
    let movie = try Rows.movie.get()
    try store.transaction { transaction in
      try transaction.define(movie)
      try transaction.define(pair)
      let row = RowBuffer(count: movie.fields.count)
      for values in try Rows.hard() {
        row.set(values)
        try row.withRow { try transaction.insert($0, in: movie) }
      }
      let other = RowBuffer(count: 3)
      for (number, key) in [
        "", "../../x", "a/b", "CON", "con", "a\0", "é", "e\u{301}", String(repeating: "k", count: 300),
      ].enumerated() {
        for half in 0..<20 {
          other.set([.text(key), .uuid(UUID()), .double(Double(number) + Double(half) / 3)])
          try other.withRow { try transaction.insert($0, in: pair) }
        }
      }
    }
  }

  @Test("V2, E6 Copies every kind of value, hostile names and keys unchanged", arguments: schemes, schemes)
  func pair(from: String, to: String) throws {
    let folder = try TemporaryFolder()
    let (source, destination) = (try open(from, folder, "source"), try open(to, folder, "destination"))
    try fill(source)
    let report = try Migration(from: source, to: destination, options: MigrationOptions(batchSize: 50)).run()
    #expect(report.models.map(\.counts.written) == [9, 180])
    let comparison = try StoreComparison(source, destination).run()
    #expect(comparison.isEqual, "\(comparison)")
    // verify reports one missing and one changed record for any engines.
    let movie = try Rows.movie.get()
    try destination.transaction { transaction in
      _ = try transaction.delete(RecordKey([.integer(.min)]), in: movie)
      let row = RowBuffer(count: movie.fields.count)
      row.set(
        try Rows.row(
          5, ["cast": .document("\"texT\""), "MPAA \"Rating\"": .text("PG-13"), "budget": .double(1e22)]))
      try row.withRow { try transaction.update($0, in: movie) }
    }
    let differing = try StoreComparison(source, destination).run()
    let found = try #require(differing.models.first { $0.name == "Movie" })
    #expect(found.differences.map(\.kind) == [.onlyLeft, .changed])
    #expect(found.differences.map(\.key) == [RecordKey([.integer(.min)]), RecordKey([.integer(5)])])
    #expect(found.differences.last?.fields.map(\.name) == ["cast"])
    try source.close()
    try destination.close()
  }
}
