import PersistenceDriver

@testable import PersistenceJSON

extension FuzzTarget {
  /// Index files of a JSON directory.
  ///
  /// The first byte selects whether the bytes are a file, its content without the checksum, or only its records.
  static let index = FuzzTarget(name: "index", seeds: IndexFiles.seeds) { bytes in
    guard let choice = bytes.first else { return }
    let fields = try IndexFiles.fields.get()
    let content = [UInt8](bytes.content)
    let file: [UInt8] =
      switch choice % 3 {
      case 0: content
      case 1: IndexContent.sealed(content)
      default: IndexContent.sealed(IndexFiles.head(fields) + content)
      }
    guard let records = IndexContent.records(in: file, fields, store: IndexFiles.store) else { return }
    let written = IndexContent.bytes(of: records, fields, store: IndexFiles.store)
    let again = IndexContent.records(in: written, fields, store: IndexFiles.store) ?? [:]
    try require(
      again.mapValues(\.values) == records.mapValues(\.values)
        && again.mapValues(\.status) == records.mapValues(\.status), "an index changes when it is written")
    let row = RowBuffer(count: fields.schema.fields.count)
    for record in records.values {
      record.fill(row, fields)
      _ = try row.withRow { try $0.values() }
      _ = record.status.isSettled
    }
  }
}

private enum IndexFiles {
  static let store: UInt64 = 12_345
  static let fields = Result { IndexedFields(try FuzzModels.everyKind()) }

  /// The bytes before the number of records.
  static func head(_ fields: IndexedFields) -> [UInt8] {
    var head = ByteWriter()
    head.put(store)
    head.putCounted(fields.signature.utf8)
    return head.bytes
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let fields = try fields.get()
    var records: [String: IndexedRecord] = [:]
    let time = FileTime(seconds: 1_700_000_000, nanoseconds: 5)
    let status = FileStatus(size: 300, inode: 9, modified: time, changed: time)
    try FuzzModels.forEachRow { row in
      let file = FileName.file(for: try RecordKey(of: row, in: fields.schema))
      records[file] = IndexedRecord(row, fields, status: status)
    }
    let file = IndexContent.bytes(of: records, fields, store: store)
    let body = Array(file.dropFirst(40))
    return [
      [0] + file, [1] + body, [2] + Array(body.dropFirst(head(fields).count)), [2, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
  }
}
