import Foundation
package import PersistenceDriver

/// A model as the catalog holds it: its schema, and the number that stands for it in every key, so that names
/// are data and nothing else (contract E6).
package struct StoredModel: Sendable {
  /// What all keys of the model begin with, as two big-endian bytes.
  package let number: UInt16
  package let schema: ModelSchema
}

extension StoredModel {
  private struct Record: Codable {
    var revision: Int
    var schema: ModelSchema
  }

  /// The largest number of indexes that a model may have, since one byte stands for each.
  static let indexLimit = 200

  static func key(_ number: UInt16) -> [UInt8] { Array("model".utf8) + KeyPrefix.model(number) }
  static func countKey(_ number: UInt16) -> [UInt8] { Array("count".utf8) + KeyPrefix.model(number) }

  /// The catalog record, as JSON.
  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return [UInt8](try encoder.encode(Record(revision: 1, schema: schema)))
    } catch {
      throw PersistenceError(
        .encodingFailed, "the schema could not be written into the catalog: \(error)", model: schema.name)
    }
  }

  init(number: UInt16, encoded: UnsafeRawBufferPointer) throws {
    self.number = number
    do {
      let record = try JSONDecoder().decode(Record.self, from: Data(encoded))
      guard record.revision == 1 else {
        throw PersistenceError.damaged("a schema in the catalog has the unknown revision \(record.revision)")
      }
      schema = record.schema
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError.damaged("a schema in the catalog cannot be read (\(error))")
    }
  }
}

/// What keys begin with.
enum KeyPrefix {
  static func model(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  static func index(_ number: UInt16, _ index: Int) -> [UInt8] {
    model(number) + [UInt8(truncatingIfNeeded: index + 1)]
  }
}
