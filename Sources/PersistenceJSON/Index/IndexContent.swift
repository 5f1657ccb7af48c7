import Foundation
import PersistenceDriver
import PersistencePrimitives

/// The content of an index file: the status of each record's file when it was read, and its indexed values.
///
/// ```
/// "PJSONIX1"          8 bytes
/// checksum           32 bytes: SHA-256 of all that follows
/// store               u64: the inode of the store's folder
/// signature           u32 length, text: the indexed fields
/// records             u64
/// each: name          u32 length, text
///       status        size u64, inode u64, modified and changed: seconds i64, nanoseconds u32
///       values        u32 length, cells: a tag, and the bytes of its kind
/// ```
///
/// Numbers are little-endian. The engine ignores and rebuilds a file in any other form.
enum IndexContent {
  static let magic = Array("PJSONIX1".utf8)

  static func bytes(of records: [String: IndexedRecord], _ fields: IndexedFields, store: UInt64) -> [UInt8] {
    var body = ByteWriter()
    body.put(store)
    body.putCounted(fields.signature.utf8)
    body.put(UInt64(records.count))
    for (name, record) in records {
      body.putCounted(name.utf8)
      body.put(UInt64(clamping: record.status.size))
      body.put(record.status.inode)
      body.put(record.status.modified)
      body.put(record.status.changed)
      body.putCounted(record.values)
    }
    return sealed(body.bytes)
  }

  /// The header before the checksummed bytes.
  static func sealed(_ body: [UInt8]) -> [UInt8] { magic + SHA256.hash(data: body) + body }

  /// The records; nil if the bytes are not an index of these fields of this store.
  static func records(in bytes: [UInt8], _ fields: IndexedFields, store: UInt64) -> [String: IndexedRecord]? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let start = reader.run(magic.count), start.elementsEqual(magic),
        let checksum = reader.run(SHA256.byteCount),
        SHA256.hash(data: bytes[(magic.count + SHA256.byteCount)...]).elementsEqual(checksum),
        reader.number(UInt64.self) == store,
        let signature = reader.counted(), signature.elementsEqual(fields.signature.utf8),
        let count = reader.number(UInt64.self)
      else { return nil }
      var records: [String: IndexedRecord] = [:]
      // The count is untrusted, so it reserves no memory.
      for _ in 0..<count {
        guard let (name, record) = record(&reader), record.isPlausible(fields, file: name) else { return nil }
        records[name] = record
      }
      return reader.isAtEnd ? records : nil
    }
  }

  private static func record(_ reader: inout ByteReader) -> (String, IndexedRecord)? {
    guard let name = reader.counted().flatMap({ String(validating: $0, as: UTF8.self) }),
      let size = reader.number(UInt64.self).flatMap({ Int(exactly: $0) }),
      let inode = reader.number(UInt64.self),
      let modified = reader.time(), let changed = reader.time(), let values = reader.counted()
    else { return nil }
    let status = FileStatus(size: size, inode: inode, modified: modified, changed: changed)
    return (name, IndexedRecord(status: status, values: [UInt8](values)))
  }
}
