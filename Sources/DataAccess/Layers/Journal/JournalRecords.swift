import Foundation
import PersistenceCore
import PersistenceDriver

/// The number of writes of a model by layered data sources, which numbers the outbox entries, and the last
/// writer.
struct LayerState: PersistentRecord {
  var model: String
  var generation = 0
  /// The layer that wrote last, in any process.
  var writer: UUID
  /// The generation in which the last writer took over from another one.
  var turn = 0

  static let schema = RecordSchema<LayerState>(
    reserved: ReservedModel.layers,
    fields: [
      .field("model", \.model), .field("generation", \.generation), .field("writer", \.writer),
      .field("turn", \.turn),
    ], key: [\.model])

  var primaryKey: String { model }

  init(model: String, writer: UUID) { (self.model, self.writer) = (model, writer) }

  init(from row: borrowing Row) throws {
    (model, generation, writer, turn) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(model, generation, writer, turn)
  }

  /// Whether one writer made all writes since a version.
  func isWritten(onlyBy writer: UUID, since version: ReplicaVersion) -> Bool {
    generation == version.generation || (self.writer == writer && version.generation >= turn)
  }
}

/// The moment at which a layer began, in one process.
struct LayerBeginning: Sendable {
  var date: Date
  /// The number of writes until then.
  var generation: Int
}

/// A complete region of a model.
///
/// The name of a region with one key contains that key.
struct CoverageRecord: PersistentRecord {
  struct Key: PersistentKey {
    var model: String
    var part: String
    var keyValues: [PersistentValue] { model.keyValues + part.keyValues }
  }

  var model: String
  var part: String
  var isKey: Bool
  var number: Int
  var content: Data

  static let schema = RecordSchema<CoverageRecord>(
    reserved: ReservedModel.coverage,
    fields: [
      .field("model", \.model), .field("part", \.part), .field("isKey", \.isKey), .field("number", \.number),
      .field("content", \.content),
    ], key: [\.model, \.part], indexes: [RecordIndex(\.model, \.isKey, \.number)])

  var primaryKey: Key { Key(model: model, part: part) }

  init(model: String, part: String, isKey: Bool, number: Int, content: Data) {
    (self.model, self.part, self.isKey, self.number, self.content) = (model, part, isKey, number, content)
  }

  init(from row: borrowing Row) throws {
    (model, part, isKey, number, content) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(model, part, isKey, number, content)
  }
}

/// A key that may be stale, or a pending write.
///
/// Each writer has a pending-write record of its own, which others do not remove.
struct StaleKeyRecord: PersistentRecord {
  var model: String
  /// The name of the key; for a pending write, followed by the id of the writer and the number of its process, each
  /// after a ``separator``.
  var part: String
  /// True for a stale key, whose regions have been removed.
  ///
  /// False for a pending write, which remains after a kill.
  var isSettled: Bool

  /// Sorts before all characters of a name.
  static let separator: Character = "!"
  /// The character after the separator.
  static let separatorSuccessor: Character = "\""

  static func pendingWriteName(of key: RecordKey, by writer: UUID) throws -> String {
    try HashedName.of(key) + "\(separator)\(writer.uuidString)\(separator)\(LiveWriters.process)"
  }

  /// The name of the key.
  var keyName: String { String(part.prefix { $0 != Self.separator }) }

  /// Whether the writer of a pending write may still end it.
  var isOfLiveWriter: Bool {
    let parts = part.split(separator: Self.separator)
    guard parts.count == 3, let writer = UUID(uuidString: String(parts[1])), let process = Int32(parts[2])
    else { return false }
    return LiveWriters.contain(writer, of: process)
  }

  static let schema = RecordSchema<StaleKeyRecord>(
    reserved: ReservedModel.staleKeys,
    fields: [.field("model", \.model), .field("part", \.part), .field("isSettled", \.isSettled)],
    key: [\.model, \.part])

  var primaryKey: CoverageRecord.Key { CoverageRecord.Key(model: model, part: part) }

  init(model: String, part: String, isSettled: Bool) {
    (self.model, self.part, self.isSettled) = (model, part, isSettled)
  }

  init(from row: borrowing Row) throws {
    (model, part, isSettled) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(model, part, isSettled)
  }
}

/// Short names for record keys: two 64-bit FNV-1a hashes (Fowler, Noll, Vo).
///
/// A collision is harmless: the contents differ, or both keys become stale.
enum HashedName {
  static func of(_ bytes: some Sequence<UInt8>) -> String {
    var (first, second): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x6C62_272E_07BB_0142)
    for byte in bytes {
      first = (first ^ UInt64(byte)) &* 0x100_0000_01B3
      second = (second &* 0x100_0000_01B3) ^ UInt64(byte)
    }
    return String(first, radix: 16) + "-" + String(second, radix: 16)
  }

  static func of(_ key: RecordKey) throws -> String { of(try LayerCoding.data(key)) }
}

/// Canonical JSON for the layers' records: equal values have equal bytes.
enum LayerCoding {
  static func data(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      throw PersistenceError(.encodingFailed, "cannot encode a record of the layers: \(error)")
    }
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw PersistenceError.damaged("cannot decode a record of the layers: \(error)")
    }
  }
}

extension ReservedModel {
  /// The writes that wait for the remote data source.
  static let outbox = "persistence.outbox"
  /// The parts of each model that a local data source holds completely.
  static let coverage = "persistence.layers.coverage"
  /// The keys of records that may be stale.
  static let staleKeys = "persistence.layers.doubts"
  /// The number of writes of each model by layered data sources.
  static let layers = "persistence.layers"
}
