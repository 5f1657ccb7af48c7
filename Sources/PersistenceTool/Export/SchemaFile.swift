import Foundation
import PersistenceDriver

/// The file that says what NDJSON and CSV cannot: kinds, key and indexes.
enum SchemaFile {
  /// Where the schema of a file is looked for and written.
  static func path(beside file: String) -> String { file + ".schema.json" }

  /// Writes a schema, which is at its place once the file is finished.
  static func begin(_ schema: ModelSchema, at path: String, replacesExisting: Bool) throws -> FileReplacement
  {
    let target = try FileReplacement(path, replacesExisting: replacesExisting)
    try target.write(EncodedText.json(schema) + "\n")
    return target
  }

  /// Reads a schema.
  ///
  /// - Throws: ``ToolFailure`` where the file cannot be read or is no schema.
  static func read(_ path: String) throws -> ModelSchema {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ToolFailure.inputOutput("\(path) cannot be read")
    }
    do {
      return try JSONDecoder().decode(ModelSchema.self, from: data)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw ToolFailure.inputOutput("\(path) is no schema as export writes it: \(error)")
    }
  }
}
