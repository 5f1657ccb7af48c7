import Foundation
import PersistenceDriver

/// The schema file of an export, since NDJSON and CSV have no kinds, key and indexes.
enum SchemaFile {
  static func path(for file: String) -> String { file + ".schema.json" }

  /// Writes a schema, which appears when the file is finished.
  static func begin(_ schema: ModelSchema, at path: String, replacesExisting: Bool) throws -> FileReplacement
  {
    let target = try FileReplacement(path, replacesExisting: replacesExisting)
    try target.write(JSONReport.text(schema) + "\n")
    return target
  }

  /// Reads a schema.
  ///
  /// - Throws: ``ToolFailure`` if the file cannot be read, or is not a schema.
  static func read(_ path: String) throws -> ModelSchema {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ToolFailure.inputOutput("\(path) cannot be read")
    }
    do {
      return try JSONDecoder().decode(ModelSchema.self, from: data)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw ToolFailure.inputOutput("\(path) is not a schema of export: \(error)")
    }
  }
}
