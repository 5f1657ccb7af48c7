import Crypto
import Foundation

public import PersistenceDriver

/// Makes the digests of records of one schema.
public struct RecordDigester {
  /// Runs of bytes that are longer go to the hash function from where they lie, without a copy.
  private static let copyLimit = 4096

  private let positions: [Int]
  private let seed: [UInt8]
  private var bytes: [UInt8] = []

  /// Prepares for a schema.
  ///
  /// - Parameters:
  ///   - schema: The schema whose positions rows have.
  ///   - names: The fields that count; all of them where it is nil.
  public init(_ schema: ModelSchema, fields names: Set<StoredName>? = nil) {
    let counted = schema.fields.indices
      .map { (name: StoredName(schema.fields[$0].name), position: $0) }
      .filter { names?.contains($0.name) ?? true }
      .sorted { $0.name < $1.name }
    positions = counted.map(\.position)
    var hasher = SHA256()
    for (name, _) in counted {
      let text = Array(name.text.utf8)
      withUnsafeBytes(of: UInt64(text.count).bigEndian) { hasher.update(bufferPointer: $0) }
      hasher.update(data: text)
    }
    seed = Array(hasher.finalize())
  }

  /// The digest of a row of the schema.
  public mutating func digest(of row: borrowing Row) -> RecordDigest {
    var hasher = SHA256()
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: seed)
    for position in positions {
      let cell = row[position]
      bytes.append(cell.tag.rawValue)
      switch cell.tag {
      case .null: break
      case .bool: bytes.append(cell.boolValue ? 1 : 0)
      case .integer: append(UInt64(bitPattern: cell.integerValue))
      case .double, .date: append(TotalOrder.normalized(cell.doubleValue).bitPattern)
      case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { bytes.append(contentsOf: $0) }
      case .text, .bytes, .decimal, .document:
        let content = cell.borrowedBytes
        append(UInt64(content.count))
        if content.count <= Self.copyLimit {
          bytes.append(contentsOf: content)
        } else {
          bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
          bytes.removeAll(keepingCapacity: true)
          hasher.update(bufferPointer: content)
        }
      }
    }
    bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return RecordDigest(hasher.finalize())
  }

  private mutating func append(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

extension Row {
  /// How many bytes the row's values take, roughly: what batches and pages are measured by.
  package var approximateSize: Int {
    var size = 0
    for position in 0..<count {
      switch self[position].tag {
      case .text, .bytes, .decimal, .document: size += 8 + self[position].borrowedBytes.count
      default: size += 8
      }
    }
    return size
  }
}
