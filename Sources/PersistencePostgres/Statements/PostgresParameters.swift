import CPostgres
import Foundation
import PersistenceDriver
import PersistenceSQL

/// The parameters of one statement: types, and values in the server's binary format.
struct PostgresParameters {
  private(set) var types: [Oid] = []
  private var starts: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []
  /// The values, if there are any after a byte that gives even an empty one an address.
  private var bytes: [UInt8] = []
  /// Whether they are for tables of other programs: text has no escapes, and dates are moments.
  private let isForeign: Bool

  init(isForeign: Bool = false) { self.isForeign = isForeign }

  var count: Int { types.count }

  /// The number of bytes of all values.
  var byteCount: Int { max(0, bytes.count - 1) }

  /// Calls a closure with libpq's arguments, which are valid during the call.
  func withArguments<Result>(
    _ body: (
      _ types: UnsafePointer<Oid>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
      _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    guard count > 0 else { return body(nil, nil, nil, nil) }
    return bytes.withUnsafeBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values: [UnsafePointer<CChar>?] = starts.map { start in
        start == 0 ? nil : base.map { $0 + start }
      }
      return values.withUnsafeBufferPointer { values in
        types.withUnsafeBufferPointer { types in
          lengths.withUnsafeBufferPointer { lengths in
            formats.withUnsafeBufferPointer { formats in
              body(types.baseAddress, values.baseAddress, lengths.baseAddress, formats.baseAddress)
            }
          }
        }
      }
    }
  }

  private mutating func add(_ type: Oid, isText: Bool = false, _ write: (inout [UInt8]) -> Void) {
    if bytes.isEmpty { bytes.append(0) }
    let start = bytes.count
    write(&bytes)
    types.append(type)
    starts.append(start)
    lengths.append(Int32(clamping: bytes.count - start))
    formats.append(isText ? 0 : 1)
    // A terminator, for values in text format.
    bytes.append(0)
  }

  mutating func addNull(_ type: Oid) {
    types.append(type)
    starts.append(0)
    lengths.append(0)
    formats.append(1)
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
