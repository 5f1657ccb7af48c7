import CPostgres
import Foundation
import PersistenceDriver
import PersistenceSQL

/// The parameters of one statement: types, and values in the server's binary format.
struct PostgresParameters {
  /// One parameter without its value.
  private struct Entry {
    let type: Oid
    /// Where the value begins; 0 for NULL.
    let start: Int
    let length: Int32
    /// 0 for a value in text format, 1 for a binary one.
    let format: Int32
  }

  private var entries: [Entry] = []
  /// The values, if there are any after a byte that gives even an empty one an address.
  private var bytes: [UInt8] = []
  /// Whether they are for tables of other programs: text has no escapes, and dates are moments.
  private let isForeign: Bool

  init(isForeign: Bool = false) { self.isForeign = isForeign }

  /// Makes an empty list with room for a number of parameters and the bytes of their values.
  init(isForeign: Bool = false, count: Int, byteCount: Int) {
    self.isForeign = isForeign
    entries.reserveCapacity(count)
    // A byte precedes the values, and each has a terminator.
    bytes.reserveCapacity(byteCount + count + 1)
  }

  var count: Int { entries.count }

  /// The type of each parameter; 0 where the server infers it.
  var types: [Oid] { entries.map { $0.type } }

  /// The number of bytes of all values.
  var byteCount: Int { max(0, bytes.count - 1) }

  /// Calls a closure with libpq's arguments, which are valid during the call.
  func withArguments<Result>(
    _ body: (
      _ types: UnsafePointer<Oid>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
      _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    let count = entries.count
    guard count > 0 else { return body(nil, nil, nil, nil) }
    return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
      withUnsafeTemporaryAllocation(of: Oid.self, capacity: count) { types in
        // The lengths, then the formats.
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
          bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            for place in 0..<count {
              let entry = entries[place]
              values.initializeElement(at: place, to: entry.start == 0 ? nil : base.map { $0 + entry.start })
              types.initializeElement(at: place, to: entry.type)
              numbers.initializeElement(at: place, to: entry.length)
              numbers.initializeElement(at: count + place, to: entry.format)
            }
            let lengths = numbers.baseAddress.map { UnsafePointer($0) }
            return body(
              types.baseAddress.map { UnsafePointer($0) }, values.baseAddress.map { UnsafePointer($0) },
              lengths, lengths.map { $0 + count })
          }
        }
      }
    }
  }

  private mutating func add(_ type: Oid, isText: Bool = false, _ write: (inout [UInt8]) -> Void) {
    if bytes.isEmpty { bytes.append(0) }
    let start = bytes.count
    write(&bytes)
    let length = Int32(clamping: bytes.count - start)
    entries.append(Entry(type: type, start: start, length: length, format: isText ? 0 : 1))
    // A terminator, for values in text format.
    bytes.append(0)
  }

  mutating func addNull(_ type: Oid) { entries.append(Entry(type: type, start: 0, length: 0, format: 1)) }

  /// The values of a key.
  static func key(_ key: RecordKey, isForeign: Bool = false) -> PostgresParameters {
    // Most keys are a number or a short text.
    var parameters = PostgresParameters(
      isForeign: isForeign, count: key.values.count, byteCount: 16 * key.values.count)
    for value in key.values { parameters.add(value) }
    return parameters
  }

  mutating func add(_ number: Int64) { add(PostgresType.int8) { $0.append(bigEndian: number) } }

  /// Adds text of this package's own, which contains neither U+0000 nor U+0001.
  mutating func add(text: String) { add(PostgresType.text) { $0.append(contentsOf: text.utf8) } }

  /// Adds the bindings of a lowered request.
  mutating func add(_ bindings: [SQLBinding]) throws {
    for binding in bindings {
      switch binding {
      case .value(let value): add(value)
      // NULL is no limit.
      case .count(let count): count < 0 ? addNull(PostgresType.int8) : add(count)
      case .list(let values): add(list: values)
      case .search, .condition:
        throw PersistenceError.unsupported("call a function of the client", by: "PostgreSQL")
      }
    }
  }

  /// Adds a value in its column's format.
  mutating func add(_ value: PersistentValue) {
    guard !value.isNull else { return addNull(0) }
    let isText = if case .decimal = value { true } else { false }
    let isForeign = isForeign
    add(PostgresType.of(value.tag, isForeign), isText: isText) { Self.append(value, to: &$0, isForeign) }
  }

  /// Adds a cell in its column's format.
  mutating func add(_ cell: RowCell, of kind: FieldKind) {
    let (type, isForeign) = (PostgresType.of(kind.tag, isForeign), isForeign)
    guard !cell.isNull else { return addNull(type) }
    add(type, isText: cell.tag == .decimal) { Self.append(cell, to: &$0, isForeign) }
  }

  /// Appends a cell in its column's format, which is text for decimals.
  static func append(_ cell: RowCell, to bytes: inout [UInt8], _ isForeign: Bool = false) {
    switch cell.tag {
    case .text where isForeign: bytes.append(contentsOf: cell.borrowedBytes)
    case .date where isForeign: bytes.append(bigEndian: PostgresMoment.nearest(to: cell.doubleValue) ?? 0)
    case .null: break
    case .bool: bytes.append(cell.boolValue ? 1 : 0)
    case .integer: bytes.append(bigEndian: cell.integerValue)
    case .double, .date: bytes.append(bigEndian: Int64(bitPattern: cell.doubleValue.bitPattern))
    case .text: PostgresText.append(cell.borrowedBytes, to: &bytes)
    case .bytes, .document, .decimal: bytes.append(contentsOf: cell.borrowedBytes)
    case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { bytes.append(contentsOf: $0) }
    }
  }

  /// Adds the values of a membership test, which have one kind, as an array.
  private mutating func add(list values: [PersistentValue]) {
    let tag = values.first?.tag ?? .null
    guard tag != .decimal else {
      let texts = values.map { if case .decimal(let number) = $0 { number.canonicalText } else { "NULL" } }
      return add(PostgresType.numericArray, isText: true) {
        $0.append(contentsOf: "{\(texts.joined(separator: ","))}".utf8)
      }
    }
    // Documents are compared as text.
    let (element, isForeign) = (
      tag == .document ? PostgresType.text : PostgresType.of(tag, isForeign), isForeign
    )
    add(PostgresType.array(of: element)) { bytes in
      for word in [1, 0, Int32(bitPattern: element), Int32(clamping: values.count), 1] {
        bytes.append(bigEndian: word)
      }
      for value in values {
        let start = bytes.count
        bytes.append(bigEndian: Int32(0))
        Self.append(value, to: &bytes, isForeign)
        let length = Int32(clamping: bytes.count - start - 4)
        withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
      }
    }
  }

  private static func append(_ value: PersistentValue, to bytes: inout [UInt8], _ isForeign: Bool) {
    switch value {
    case .text(let value) where isForeign: bytes.append(contentsOf: value.utf8)
    case .date(let value) where isForeign: bytes.append(bigEndian: PostgresMoment.nearest(to: value) ?? 0)
    case .null: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer(let value): bytes.append(bigEndian: value)
    case .double(let value), .date(let value):
      bytes.append(bigEndian: Int64(bitPattern: TotalOrder.normalized(value).bitPattern))
    case .text(let value):
      var value = value
      value.withUTF8 { PostgresText.append(UnsafeRawBufferPointer($0), to: &bytes) }
    case .document(let value): bytes.append(contentsOf: value.utf8)
    case .decimal(let value): bytes.append(contentsOf: value.canonicalText.utf8)
    case .bytes(let value): bytes.append(contentsOf: value)
    case .uuid(let value): withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    }
  }
}

/// The numbers of the server's built-in types, which never change.
enum PostgresType {
  static let bool: Oid = 16
  static let bytea: Oid = 17
  static let int8: Oid = 20
  static let text: Oid = 25
  static let json: Oid = 114
  static let float8: Oid = 701
  static let numeric: Oid = 1700
  static let numericArray: Oid = 1231
  static let uuid: Oid = 2950
  static let timestamptz: Oid = 1184

  static func of(_ tag: RowCell.Tag, _ isForeign: Bool = false) -> Oid {
    switch tag {
    case .date where isForeign: timestamptz
    case .null: 0
    case .bool: bool
    case .integer: int8
    case .double, .date: float8
    case .text: text
    case .bytes: bytea
    case .uuid: uuid
    case .decimal: numeric
    case .document: json
    }
  }

  static func array(of element: Oid) -> Oid {
    switch element {
    case bool: 1000
    case bytea: 1001
    case int8: 1016
    case float8: 1022
    case uuid: 2951
    case timestamptz: 1185
    default: 1009
    }
  }
}

extension [UInt8] {
  mutating func append(bigEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
