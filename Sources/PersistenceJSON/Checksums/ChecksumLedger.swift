import PersistenceDriver
import PersistencePrimitives

/// The checksums of the record files, as the files of `.persistence/checksums` contain them.
///
/// A commit changes them like records, so that they always describe the committed version. Each model has up to 256
/// files: a commit of one record rewrites only one of them. The commit that makes the ledger whole adds a mark; without the
/// mark, the store keeps no checksums.
struct ChecksumLedger {
  /// The folder of the checksums.
  static let folderName = "\(StoreFolder.controlName)/checksums"
  private static let markName = "complete"

  /// The mark of a ledger with the checksums of all records.
  static let mark = Journal.Entry(folder: folderName, file: markName, text: [])

  /// Whether a source has the checksums of all its records, which commits then maintain.
  static func isKept(in source: any RecordSource) throws -> Bool {
    try source.exists(markName, in: folderName)
  }

  private static let bucketCount: UInt8 = 255

  private struct Bucket: Hashable {
    var folder: String
    var number: UInt8

    var file: String { "\(folder).\(number < 16 ? "0" : "")\(String(number, radix: 16)).json" }
  }

  private let source: any RecordSource
  private var buckets: [Bucket: [String: Checksum]] = [:]
  /// The files of dropped models.
  private var left: Set<String> = []

  init(_ source: any RecordSource) { self.source = source }

  /// Sets the checksum of a file; nil removes it.
  mutating func set(_ checksum: Checksum?, of file: String, in folder: String) throws {
    let bucket = Bucket(folder: folder, number: Self.number(of: file))
    if buckets[bucket] == nil {
      do {
        buckets[bucket] = try Self.read(bucket.file, of: source) ?? [:]
      } catch let error as PersistenceError where error.code == .damaged {
        // A damaged file is written anew, and verification reports the records without a checksum.
        buckets[bucket] = [:]
      }
    }
    buckets[bucket]?[file] = checksum
  }

  /// Removes all checksums of a folder, also those of files that are gone.
  mutating func removeAll(of folder: String) throws {
    buckets = buckets.filter { $0.key.folder != folder }
    let prefix = "\(folder)."
    left.formUnion(
      try source.names(in: Self.folderName).filter { $0.utf8.starts(with: prefix.utf8) })
  }

  /// The changed files of checksums, for a commit.
  var entries: [Journal.Entry] {
    left.map { Journal.Entry(folder: Self.folderName, file: $0) }
      + buckets.map { bucket, checksums in
        let members = checksums.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value.json) }
        return Journal.Entry(
          folder: Self.folderName, file: bucket.file,
          text: checksums.isEmpty ? nil : JSONText.pretty(.object(members)))
      }
  }

  /// All checksums of a model's files; calls `damage` with the error for each file of them that cannot be read.
  static func checksums(
    of folder: String, in source: any RecordSource, damage: (PersistenceError) throws -> Void
  ) throws -> [String: Checksum] {
    var all: [String: Checksum] = [:]
    for number in 0...bucketCount {
      do {
        let bucket = try read(Bucket(folder: folder, number: number).file, of: source)
        all.merge(bucket ?? [:]) { $1 }
      } catch let error as PersistenceError where error.code == .damaged {
        try damage(error)
      }
    }
    return all
  }

  private static func read(_ file: String, of source: any RecordSource) throws -> [String: Checksum]? {
    try source.read(file, in: folderName).map { try checksums($0.bytes, in: file) }
  }

  /// The checksums in the text of a file.
  static func checksums(_ text: [UInt8], in file: String) throws -> [String: Checksum] {
    let damage = PersistenceError.damaged("the file of checksums \(file) is damaged")
    guard case .object(let members) = try? text.withUnsafeBytes({ try JSONParser.parse($0) }) else {
      throw damage
    }
    var checksums: [String: Checksum] = [:]
    for member in members {
      guard let checksum = Checksum(member.value) else { throw damage }
      checksums[member.name] = checksum
    }
    return checksums
  }

  /// The bucket of a file, by a hash of its name (FNV-1a).
  private static func number(of file: String) -> UInt8 {
    let hash = file.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return UInt8(truncatingIfNeeded: hash >> 32)
  }
}
