import PersistenceConformance
import Foundation
import PersistenceDriver
import PersistenceLMDB
import Testing

/// A temporary folder for stores, and a model for them.
struct Scratch {
  let folder: URL
  var path: String { folder.appendingPathComponent("store.lmdb").path }
  var data: URL { folder.appendingPathComponent("store.lmdb/data.mdb") }

  init(_ name: String = #function) throws { folder = try ScratchFolder().make("lmdb") }

  /// A folder that an exit test's process finds by its parent's process identifier.
  init(sharedAs name: String, by process: Int32) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("persistence-conformance-\(process)/shared-\(name)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func open(_ configuration: LMDBConfiguration = LMDBConfiguration()) throws -> LMDBContext {
    try LMDBContext(path: path, configuration: configuration)
  }

  static func schema(indexes: [IndexSchema] = []) throws -> ModelSchema {
    try ModelSchema(
      name: "Note", fields: [FieldSchema("id", .string), FieldSchema("text", .string, isOptional: true)],
      key: ["id"], indexes: indexes)
  }
}

extension LMDBContext {
  func save(_ notes: [(String, String?)], _ schema: ModelSchema) throws {
    try transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 2)
      for (id, text) in notes {
        row.set([.text(id), text.map(PersistentValue.text) ?? .null])
        try row.withRow { try transaction.save($0, in: schema) }
      }
    }
  }

  func text(_ id: String, _ schema: ModelSchema) throws -> PersistentValue? {
    var value: PersistentValue?
    _ = try find(RecordKey([.text(id)]), in: schema) { value = try $0.value(at: 1) }
    return value
  }

  func keys(_ request: FetchRequest) throws -> [String] { try fetch(request).keys() }
}

extension StorageResults {
  func keys(pages: Int = 7) throws -> [String] {
    var keys: [String] = []
    while try read(
      from: keys.count, limit: pages,
      { row in
        guard case .text(let key) = try row.value(at: 0) else { return }
        keys.append(key)
      }) == pages
    {}
    return keys
  }
}

/// Expects that a closure throws a `PersistenceError` with a code, and returns the error.
@discardableResult
func expectError<Result>(
  _ code: PersistenceError.Code, at sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) -> PersistenceError? {
  let error = #expect(throws: PersistenceError.self, sourceLocation: sourceLocation) { try body() }
  if let error { #expect(error.code == code, "\(error)", sourceLocation: sourceLocation) }
  return error
}
