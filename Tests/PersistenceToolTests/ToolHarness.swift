import Foundation
import PersistenceDriver
import PersistenceTool
import Synchronization
import PersistenceDriverSupport

/// Runs the tool in this process and captures its output.
struct ToolHarness: Sendable {
  /// The output and the exit code of a run.
  struct Run: Sendable {
    let code: Int32
    let output: String
    let messages: String
  }

  /// Additional engines, for example one with a store of the test.
  var engines = ToolEngines.all
  /// The tool's executable, for commands that start a second process.
  var executable: URL?
  var isInterrupted: @Sendable () -> Bool = { false }

  func callAsFunction(_ arguments: String...) -> Run { run(arguments) }

  func run(_ arguments: [String]) -> Run {
    let (output, messages) = (Collector(), Collector())
    let session = ToolSession(
      output: ByteOutput { output.append($0) }, messages: ByteOutput { messages.append($0) },
      engines: engines, executable: executable,
      isInterrupted: isInterrupted)
    let code = ToolRunner.run(arguments, in: session)
    return Run(code: code, output: output.text, messages: messages.text)
  }

  /// Runs a command on its own thread, because it would block the cooperative pool that it waits for.
  func aside(_ arguments: String...) async -> Run {
    await BlockingThread.run { () -> Run in run(arguments) }
  }

  private final class Collector {
    private var bytes: [UInt8] = []
    func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }
}

extension ToolHarness {
  /// A harness with a store in memory at the URL `held:`.
  static func holding(_ store: MemoryContext) -> ToolHarness {
    var harness = ToolHarness()
    harness.engines.append(held("held", store))
    return harness
  }

  /// An engine whose only store is the given one; closing has no effect.
  static func held(_ scheme: String, _ store: MemoryContext) -> StorageEngine {
    StorageEngine(scheme: scheme, options: [StoreOption("mode", .choice(["a", "b"]), "for tests")]) {
      _, _, _ in
      HeldContext(store)
    }
  }
}

/// A store in memory that ignores closing.
final class HeldContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ inner: MemoryContext) { wrapped = inner }

  var location: String { "held:" }
  func close() throws {}
}

/// A temporary folder of a test, removed on deinitialization.
final class TemporaryFolder {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory.appendingPathComponent("persistence-tool-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A path in the folder.
  func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file and returns its path.
  func file(_ name: String, _ content: String) throws -> String {
    try Data(content.utf8).write(to: URL(fileURLWithPath: self(name)))
    return self(name)
  }

  /// The names of the folder's contents.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// Rows for tests.
enum Rows {
  static let movie = Result {
    try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string, isOptional: true),
        FieldSchema("rating", .string, isOptional: true),
        FieldSchema("budget", .double, isOptional: true), FieldSchema("year", .int32, isOptional: true),
        FieldSchema("seen", .bool),
        FieldSchema("released", .date, isOptional: true), FieldSchema("uid", .uuid, isOptional: true),
        FieldSchema("poster", .data, isOptional: true), FieldSchema("cast", .document, isOptional: true),
        FieldSchema("price", .decimal, isOptional: true), FieldSchema("score", .float, isOptional: true),
        FieldSchema("MPAA \"Rating\"", .string, isOptional: true),
        FieldSchema("site", .url, isOptional: true),
      ], key: ["id"])
  }

  /// A row of the movie model; other fields are nil, and `seen` is false.
  static func row(_ id: Int64, _ values: [String: PersistentValue]) throws -> [PersistentValue] {
    let schema = try movie.get()
    return schema.fields.map { field in
      field.name == "id" ? .integer(id) : values[field.name] ?? (field.name == "seen" ? .bool(false) : .null)
    }
  }

  static func store(_ rows: [[PersistentValue]], _ schema: ModelSchema? = nil) throws -> MemoryContext {
    let schema = try schema ?? movie.get()
    let store = MemoryContext()
    try store.transaction { transaction in
      try transaction.define(schema)
      let buffer = RowBuffer(count: schema.fields.count)
      for row in rows {
        buffer.set(row)
        try buffer.withRow { try transaction.insert($0, in: schema) }
      }
    }
    return store
  }

  /// Rows with every kind of value and its edge cases.
  static func hard() throws -> [[PersistentValue]] {
    let decimal = Decimal(canonicalText: "12345678901234567890123456789.012345678") ?? .nan
    let document = "{\"a\":[1,9007199254740993,0.10,null,\"\\u0001é\"],\"é\":{\"b\":true}}"
    return try [
      row(
        9_007_199_254_740_993,
        ["title": .text(""), "budget": .double(.nan), "year": .integer(-2_147_483_648)]),
      row(
        .min,
        ["title": .text("a\0b,\"c\"\r\nd\u{2028}😀 "), "budget": .double(.infinity), "seen": .bool(true)]),
      row(.max, ["title": .text("e\u{301}"), "budget": .double(-.infinity), "price": .decimal(decimal)]),
      row(
        1,
        [
          "title": .text("NaN"), "budget": .double(.leastNonzeroMagnitude),
          "released": .date(694_224_000.123456), "score": .double(Double(Float(0.1))),
        ]),
      row(
        2,
        ["rating": .text("null"), "budget": .double(0.1), "released": .date(-1e300), "price": .decimal(.nan)]),
      row(3, ["released": .date(.nan), "uid": .uuid(UUID()), "poster": .bytes([]), "cast": .document("[]")]),
      row(
        4,
        [
          "poster": .bytes((0...255).map { $0 }), "cast": .document(document),
          "site": .text("https://x.example/a?b=c,d"),
        ]),
      row(5, ["cast": .document("\"text\""), "MPAA \"Rating\"": .text("PG-13"), "budget": .double(1e22)]),
      row(6, ["released": .date(.infinity), "cast": .document("null"), "title": .text("\u{FEFF}x")]),
    ]
  }
}

extension ToolEngines {
  /// The engines whose stores are files or folders, which tests name by their paths.
  static var ofFiles: [StorageEngine] { all.filter { !["postgres", "postgresql"].contains($0.scheme) } }
}
