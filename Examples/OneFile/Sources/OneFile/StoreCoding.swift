import Foundation
import PersistenceDriver

/// Encodes a state as the bytes of a file, and decodes it.
///
/// After the header, the file has for each model its schema, the number of its records, and the records. Each schema
/// and each record is a frame: a length, a checksum, and the bytes.
enum StoreCoding {
  /// Encodes the whole file.
  static func encode(_ state: StoreState, commit: UInt64) throws -> (header: StoreHeader, bytes: [UInt8]) {
    var content: [UInt8] = []
    var digest = Checksum()
    func append(_ bytes: [UInt8], _ checksum: UInt64) {
      content.append(word: UInt64(bytes.count))
      content.append(word: checksum)
      content.append(contentsOf: bytes)
      digest.add(checksum)
    }
    for table in state.sortedTables {
      let schema = [UInt8](try JSONEncoder().encode(table.schema))
      var checksum = Checksum()
      schema.withUnsafeBytes { checksum.add($0) }
      append(schema, checksum.value)
      content.append(word: UInt64(table.records.count))
      digest.add(UInt64(table.records.count))
      for record in table.records { append(record.bytes, record.checksum) }
    }
    let header = StoreHeader(commit: commit, length: UInt64(content.count), content: digest.value)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(StoreHeader.size + content.count)
    header.append(to: &bytes)
    bytes.append(contentsOf: content)
    return (header, bytes)
  }

  /// Decodes a whole file, and detects any damage (contract E5).
  static func decode(_ bytes: UnsafeRawBufferPointer) throws -> (header: StoreHeader, state: StoreState) {
    let header = try StoreHeader(bytes)
    let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(StoreHeader.size))
    guard header.length == content.count else {
      throw PersistenceError.damaged(
        "the store has \(content.count) bytes after its header; its header states \(header.length)")
    }
    var reader = ByteReader(content)
    var digest = Checksum()
    var state = StoreState()
    while !reader.isAtEnd {
      let schema = try ModelSchema(frame: try frame(&reader, &digest).bytes)
      var table = Table(schema)
      let count = try reader.word()
      digest.add(count)
      for _ in 0..<(try checked(count, in: content)) {
        let (bytes, checksum) = try frame(&reader, &digest)
        try table.append(try Record(bytes, checksum: checksum, in: schema))
      }
      state.tables[StoredName(schema.name)] = table
    }
    guard digest.value == header.content else {
      throw PersistenceError.damaged("the checksum of the store does not match its records")
    }
    return (header, state)
  }

  /// Checks a number of records against the size of the content: each record takes at least a frame.
  private static func checked(_ count: UInt64, in content: UnsafeRawBufferPointer) throws -> UInt64 {
    guard count <= UInt64(content.count / 16) else {
      throw PersistenceError.damaged("a number of records in the file exceeds its size")
    }
    return count
  }

  private static func frame(
    _ reader: inout ByteReader, _ digest: inout Checksum
  ) throws -> (bytes: UnsafeRawBufferPointer, checksum: UInt64) {
    let (count, written) = (try reader.word(), try reader.word())
    let bytes = try reader.run(count)
    var checksum = Checksum()
    checksum.add(bytes)
    guard checksum.value == written else {
      throw PersistenceError.damaged("a checksum in the store does not match its frame")
    }
    digest.add(written)
    return (bytes, written)
  }
}

extension ModelSchema {
  fileprivate init(frame bytes: UnsafeRawBufferPointer) throws {
    do {
      self = try JSONDecoder().decode(ModelSchema.self, from: Data(bytes))
    } catch {
      throw PersistenceError.damaged("a schema in the store cannot be read (\(error))")
    }
  }
}
