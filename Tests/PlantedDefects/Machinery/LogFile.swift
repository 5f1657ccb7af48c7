import Foundation
import PersistenceCore

/// A file of records, each with its length and a checksum, to which commits are appended.
///
/// A head before the records has the length of the log up to its last commit. It is written after the records are
/// durable: what follows that length is the torn tail of a commit that was not acknowledged, and a shorter file is
/// damaged. Without that length, the log ends with its last whole record, and damage of the tail is not detected.
struct LogFile: Sendable {
  /// The deviations from a correct log.
  struct Flaw: Sendable {
    /// Whether the head has the length of the log.
    var keepsLength = true
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

  private static let mark = Data("planted log 2\n".utf8)
  /// The number of bytes before the first record.
  private static let headCount = mark.count + 16
  let path: String
  let flaw: Flaw

  private var files: PlainFiles { PlainFiles(store: path) }

  /// Reads the records of all commits.
  ///
  /// - Returns: The records, and the number of bytes up to the last one.
  func read() throws -> (records: [Data], length: Int) {
    let bytes = try files.read(path)
    guard bytes.starts(with: Self.mark), bytes.count >= Self.headCount else {
      throw PersistenceError(.notAStore, "the file is not a log; check the path", location: path)
    }
    let end = flaw.keepsLength ? try committedLength(bytes) ?? bytes.count : bytes.count
    var records: [Data] = []
    var offset = Self.headCount
    while offset < end {
      do {
        let record = try record(bytes, at: offset, number: records.count, end: end)
        records.append(record)
        offset += 16 + record.count
      } catch {
        guard flaw.takesDamageForTheEnd || !flaw.keepsLength else { throw error }
        break
      }
    }
    return (records, offset)
  }

  /// The length of the log; nil if the head is damaged, or its last write was torn, when all records are durable.
  private func committedLength(_ bytes: Data) throws -> Int? {
    let length = Self.word(bytes, Self.mark.count)
    guard Self.word(bytes, Self.mark.count + 8) == Self.checksum(Data(), length) else { return nil }
    guard length >= Self.headCount, length <= bytes.count else {
      throw PersistenceError.damaged("the log ends before its last commit")
    }
    return Int(length)
  }

  private func record(_ bytes: Data, at offset: Int, number: Int, end: Int) throws -> Data {
    guard end - offset >= 16 else { throw PersistenceError.damaged("record \(number) of the log is cut off") }
    let length = Int(truncatingIfNeeded: Self.word(bytes, offset))
    guard !flaw.checksLengths || (length >= 0 && length <= end - offset - 16) else {
      throw PersistenceError.damaged("record \(number) of the log has a wrong length")
    }
    let record = bytes.subdata(in: offset + 16..<offset + 16 + length)
    let isVerified = flaw.verifiesChecksums && (!flaw.verifiesFirstOnly || number == 0)
    if isVerified, Self.checksum(record, UInt64(record.count)) != Self.word(bytes, offset + 8) {
      throw PersistenceError.damaged("record \(number) of the log does not match its checksum")
    }
    return record
  }

  /// Appends a record at an offset, and makes it durable; then the head, which makes it a commit.
  ///
  /// - Returns: The new length of the log.
  func append(_ record: Data, at offset: Int) throws -> Int {
    // What a failed commit left must not follow the new record.
    if flaw.removesTornTail, try size() > offset { try cut(to: offset) }
    try files.write(Self.frame(record), to: path, at: offset)
    let length = offset + 16 + record.count
    guard flaw.keepsLength else { return length }
    do {
      try files.write(Self.words(length), to: path, at: Self.mark.count)
    } catch {
      // The head may have reached the disk.
      throw PersistenceError(.outcomeUnknown, "\(error)", location: path)
    }
    return length
  }

  /// Cuts the file to a length.
  func cut(to length: Int) throws { try files.cut(path, to: length) }

  /// Replaces the log by records, or creates it; returns its length.
  func replace(with records: [Data]) throws -> Int {
    let content = records.reduce(into: Data()) { $0 += Self.frame($1) }
    let length = Self.headCount + content.count
    try files.replace(path, with: Self.mark + Self.words(length) + content)
    return length
  }

  /// The number of the file, which another file at the path does not have.
  func inode() throws -> UInt64 { try UInt64(files.status(path).st_ino) }

  func size() throws -> Int { try Int(files.status(path).st_size) }

  private static func frame(_ record: Data) -> Data { words(record.count, of: record) + record }

  /// A number, and the checksum of the number and bytes.
  private static func words(_ number: Int, of bytes: Data = Data()) -> Data {
    [UInt64(number), checksum(bytes, UInt64(number))].reduce(into: Data()) { words, word in
      withUnsafeBytes(of: word.littleEndian) { words.append(contentsOf: $0) }
    }
  }

  private static func word(_ bytes: Data, _ offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  /// FNV-1a over a number and bytes.
  private static func checksum(_ bytes: Data, _ number: UInt64) -> UInt64 {
    bytes.reduce((0xCBF2_9CE4_8422_2325 ^ number) &* 0x100_0000_01B3) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
