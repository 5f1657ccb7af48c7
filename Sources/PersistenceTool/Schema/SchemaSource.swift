import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// Reads schemas from stores and files.
enum SchemaSource {
  /// Whether an argument names a file instead of a store.
  private static func isFile(_ text: String) -> Bool {
    guard text.hasSuffix(".json") else { return false }
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: text, isDirectory: &isFolder)
    return exists ? !isFolder.boolValue : !text.contains(":")
  }

  /// The schema of a file that `SchemaHistory` has recorded, or of an existing store.
  static func read(_ text: String, _ stores: ToolStores) throws -> SchemaDocument {
    if isFile(text) { return try SchemaDocument(contentsOf: text) }
    return try stores.with(stores.openForReading(text, surveying: true)) { store in
      try SchemaDocument(store.snapshot())
    }
  }
}

/// A removed field or model with the number of its values.
struct RemovedData: Encodable {
  var model: String
  var field: String?
  var formerNames: [String]
  /// The records of a model, or the values of a field that are not nil.
  var values: Int

  /// The name, and what erasing loses.
  var summary: String {
    let unit = field == nil ? "record" : "value"
    let past = formerNames.isEmpty ? "" : ", formerly \(formerNames.joined(separator: ", "))"
    return "\(name)\(past): \(values) \(unit)\(values == 1 ? "" : "s")"
  }

  var name: String { field.map { "\(model).\($0)" } ?? model }

  init(_ content: RemovedContent, _ reader: any StorageReader) throws {
    (model, field, formerNames) = (content.model, content.field, content.formerNames)
    values = try SchemaStore.valueCount(of: content, reader)
  }

  /// All removed fields and models of a store.
  static func all(in reader: any StorageReader) throws -> [RemovedData] {
    try SchemaStore.removed(in: reader).map { try RemovedData($0, reader) }
  }

  /// The removed field or model with a name such as `Film.nick` or `Draft`.
  ///
  /// - Throws: ``ToolFailure`` that lists what the store has removed.
  static func content(named name: String, in reader: any StorageReader) throws -> RemovedContent {
    let removed = try SchemaStore.removed(in: reader)
    let found = removed.filter { [$0.name].containsName(name) }
    guard found.count < 2 else {
      throw ToolFailure.usage("“\(name)” is a removed field and a removed model; use the app's repository")
    }
    if let found = found.first { return found }
    let list = removed.map { "“\($0.name)”" }.joined(separator: ", ")
    throw ToolFailure.usage(
      TerminalText.safe(
        "the store contains no removed “\(name)”; "
          + (removed.isEmpty ? "it contains nothing removed" : "it contains \(list)")))
  }
}
