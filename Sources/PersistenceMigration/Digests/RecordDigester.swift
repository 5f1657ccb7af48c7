import Crypto
import Foundation

public import PersistenceDriver

/// Makes the digests of records of one schema, one after another.
public final class RecordDigester {
  /// Runs of bytes that are longer go to the hash function from where they lie, without a copy.
  private static let copyLimit = 4096

  private let positions: [Int]
  /// What the bytes of every record begin with.
  private let seed: [UInt8]
  /// The canonical bytes of a record, as far as they were copied and not yet hashed.
  private var bytes: UnsafeMutableRawBufferPointer
  private var count = 0

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
    bytes = .allocate(byteCount: 1024, alignment: 8)
  }

  deinit { bytes.deallocate() }

  /// The digest of a row of the schema.
  public func digest(of row: borrowing Row) -> RecordDigest {
    var hasher = SHA256()
    count = 0
    seed.withUnsafeBytes { append($0) }
    for position in positions {
      let cell = row[position]
      makeRoom(1 + 16)
      bytes[count] = cell.tag.rawValue
      count += 1
      switch cell.tag {
      case .null: break
      case .bool:
        bytes[count] = cell.boolValue ? 1 : 0
        count += 1
      case .integer: append(UInt64(bitPattern: cell.integerValue))
      case .double, .date: append(TotalOrder.normalized(cell.doubleValue).bitPattern)
      case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { append($0) }
      case .text, .bytes, .decimal, .document:
        let content = cell.borrowedBytes
        append(UInt64(content.count))
        if content.count <= Self.copyLimit {
          append(content)
        } else {
          flush(into: &hasher)
          hasher.update(bufferPointer: content)
        }
      }
    }
    flush(into: &hasher)
    return RecordDigest(hasher.finalize())
  }

  private func flush(into hasher: inout SHA256) {
    hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    count = 0
  }

  /// Appends eight bytes, for which there is room.
  private func append(_ number: UInt64) {
    bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  private func append(_ content: UnsafeRawBufferPointer) {
    makeRoom(content.count)
    UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: content)
    count += content.count
  }

  private func makeRoom(_ more: Int) {
    guard count + more > bytes.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (count + more), alignment: 8)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    bytes.deallocate()
    bytes = larger
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
