import Foundation
import PersistenceCore
import PersistenceDriver

/// How often layered stores have written a model here, which numbers the entries of its outbox, and who did.
struct LayerState: PersistentRecord {
  var model: String
  var generation = 0
  /// The layer, of one process, that wrote last.
  var writer: UUID
  /// The generation in which it came to write after another one.
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
    model = try row.decode(at: 0)
    generation = try row.decode(at: 1)
    writer = try row.decode(at: 2)
    turn = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(model, at: 0)
    row.encode(generation, at: 1)
    row.encode(writer, at: 2)
    row.encode(turn, at: 3)
  }

  /// Whether all writes since a moment were made by one writer.
  func isWritten(onlyBy writer: UUID, since mark: LayerMark) -> Bool {
    generation == mark.generation || (self.writer == writer && mark.generation >= turn)
  }
}

/// A part of a model that was held whole at a moment; parts of one key are told from the others, and found by it.
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
    model = try row.decode(at: 0)
    part = try row.decode(at: 1)
    isKey = try row.decode(at: 2)
    number = try row.decode(at: 3)
    content = try row.decode(at: 4)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(model, at: 0)
    row.encode(part, at: 1)
    row.encode(isKey, at: 2)
    row.encode(number, at: 3)
    row.encode(content, at: 4)
  }
}

/// A key of which it is not known here what the store above holds; or that is being written there by someone, which a
/// record of its own announces for each writer, so that one does not take back what another announced.
struct DoubtRecord: PersistentRecord {
  var model: String
  /// The key's name, followed in an announcement by ``mark`` and the writer's id.
  var part: String
  /// The parts that were held whole have been forgotten on account of it; false for an announcement, which stays behind
  /// where the process was killed.
  var isSettled: Bool

  /// Sorts before what names are made of.
  static let mark: Character = "!"
  /// The character after the mark.
  static let end: Character = "\""

  static func announcement(of key: RecordKey, by writer: UUID) throws -> String {
    try PartName.of(key) + "\(mark)\(writer.uuidString)"
  }

  static let schema = RecordSchema<DoubtRecord>(
    reserved: ReservedModel.doubts,
    fields: [.field("model", \.model), .field("part", \.part), .field("isSettled", \.isSettled)],
    key: [\.model, \.part])

  var primaryKey: CoverageRecord.Key { CoverageRecord.Key(model: model, part: part) }

  init(model: String, part: String, isSettled: Bool) {
    (self.model, self.part, self.isSettled) = (model, part, isSettled)
  }

  init(from row: borrowing Row) throws {
    model = try row.decode(at: 0)
    part = try row.decode(at: 1)
    isSettled = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(model, at: 0)
    row.encode(part, at: 1)
    row.encode(isSettled, at: 2)
  }
}

/// Short names for long things, as keys of records: two 64-bit FNV-1a numbers (Fowler, Noll, Vo).
///
/// Two things of one name would be told apart by their content, or be in doubt together.
enum PartName {
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

/// JSON as records of layers hold it, the same for equal things.
enum LayerCoding {
  static func data(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      throw PersistenceError(.encodingFailed, "a layer's record could not be written: \(error)")
    }
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw PersistenceError.damaged("a layer's record cannot be read: \(error)")
    }
  }
}
