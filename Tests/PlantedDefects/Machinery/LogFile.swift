import Foundation
import PersistenceCore

/// A file of records, each with its length and a checksum, to which commits are appended.
struct LogFile: Sendable {
  /// The deviations from a correct log.
  struct Flaw: Sendable {
    /// Whether reading verifies checksums.
    var verifiesChecksums = true
    /// Whether reading verifies the checksum of the first record only.
    var verifiesFirstOnly = false
    /// Whether a record that does not verify ends the log, wherever it is.
    var takesDamageForTheEnd = false
    /// Whether an opening removes a torn tail before commits are appended.
    var removesTornTail = true
    /// Whether an opening to read removes a torn tail too.
    var repairsWhenReadOnly = false
    /// Whether a length is compared with the size of the file.
    var checksLengths = true
    /// Whether old records are replaced by the state once there are many.
    var compacts = true
    /// Whether a compaction keeps models without records.
    var keepsEmptyModels = true
    /// Whether the context declares that it detects damage.
    var declaresDetection = true
    /// Whether deletions are logged.
    var logsDeletions = true
  }

  static let mark = Data("planted log 1\n".utf8)
  let path: String
  let flaw: Flaw

  /// Reads the records; the last one may be torn.
  ///
  /// - Returns: The records, and the number of bytes up to the last whole one.
  func read() throws -> (records: [Data], length: Int) {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    guard bytes.starts(with: Self.mark) else {
      throw PersistenceError(.notAStore, "the file is not a log; check the path", location: path)
    }
    var records: [Data] = []
    var offset = Self.mark.count
    while offset < bytes.count {
      guard bytes.count - offset >= 16 else { break }
      let length = Int(truncatingIfNeeded: Self.word(bytes, offset))
      guard length >= 0, !flaw.checksLengths || length <= bytes.count - offset - 16 else {
        // A length beyond the end of the file is a torn tail only if no whole record follows.
        break
      }
      let record = bytes.subdata(in: offset + 16..<offset + 16 + length)
      let isVerified = flaw.verifiesChecksums && (!flaw.verifiesFirstOnly || records.isEmpty)
      if isVerified, Self.checksum(record, length) != Self.word(bytes, offset + 8) {
        if flaw.takesDamageForTheEnd || offset + 16 + length == bytes.count { break }
        throw PersistenceError.damaged("record \(records.count) of the log does not match its checksum")
      }
      records.append(record)
      offset += 16 + length
    }
    return (records, offset)
  }

  /// Appends a record at an offset, and makes it durable.
  func append(_ record: Data, at offset: Int) throws -> Int {
    let file = try handle()
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Self.frame(record))
    try file.synchronize()
    return offset + 16 + record.count
  }

  /// Cuts the file to a length.
  func cut(to length: Int) throws {
    let file = try handle()
    defer { try? file.close() }
    try file.truncate(atOffset: UInt64(length))
    try file.synchronize()
  }

  /// Replaces the log by records; returns its length.
  func replace(with records: [Data]) throws -> Int {
    let bytes = records.reduce(into: Self.mark) { $0 += Self.frame($1) }
    try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
    return bytes.count
  }

  /// The number of the file, which another file at the path does not have.
  func inode() throws -> UInt64 {
    var status = stat()
    guard stat(path, &status) == 0 else { throw PersistenceError.removedStore(path) }
    return UInt64(status.st_ino)
  }

  private func handle() throws -> FileHandle {
    guard let file = FileHandle(forUpdatingAtPath: path) else { throw PersistenceError.removedStore(path) }
    return file
  }

  private static func frame(_ record: Data) -> Data {
    var bytes = Data()
    for word in [UInt64(record.count), checksum(record, record.count)] {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes + record
  }

  private static func word(_ bytes: Data, _ offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  /// FNV-1a over the length and the bytes.
  private static func checksum(_ record: Data, _ length: Int) -> UInt64 {
    record.reduce((0xCBF2_9CE4_8422_2325 ^ UInt64(length)) &* 0x100_0000_01B3) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
  }
}
