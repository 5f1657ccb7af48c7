import PersistenceDriver
import PersistencePrimitives

@testable import PersistenceJSON

extension FuzzTarget {
  /// The files and names of a JSON directory: journal entries, checksums and names of record files, by the first byte.
  static let journal = FuzzTarget(name: "journal", seeds: JournalFiles.seeds) { bytes in
    guard let choice = bytes.first else { return }
    let content = [UInt8](bytes.content)
    switch choice % 3 {
    case 0: try JournalFiles.readManifest(content)
    case 1: try JournalFiles.readChecksums(content)
    default: if let name = bytes.content.text { try JournalFiles.readName(name) }
    }
  }
}

private enum JournalFiles {
  static func readManifest(_ text: [UInt8]) throws {
    let manifest = try accepted(PersistenceError.self) { try Manifest(text: text, path: "journal/7.json") }
    guard let manifest else { return }
    for change in manifest.changes {
      try require(
        !change.file.utf8.contains(UInt8(ascii: "/")), "a journal entry names a file of another folder")
      try require(
        change.folder == ChecksumLedger.folderName || !change.folder.utf8.contains(UInt8(ascii: "/")),
        "a journal entry names a folder outside the store")
    }
    let again = try Manifest(text: manifest.text, path: "journal/7.json")
    try require(again.text == manifest.text, "a journal entry changes when it is written")
  }

  static func readChecksums(_ text: [UInt8]) throws {
    guard
      let checksums = try accepted(
        PersistenceError.self, { try ChecksumLedger.checksums(text, in: "x.00.json") })
    else { return }
    for checksum in checksums.values {
      try require(Checksum(checksum.json) == checksum, "a checksum changes when it is written")
    }
  }

  static func readName(_ name: String) throws {
    let file = name + FileName.suffix
    for schema in [try FuzzModels.everyKind(), try FuzzModels.named(), try FuzzModels.pair()] {
      let key = try accepted(PersistenceError.self) { try FileName.key(of: file, in: schema) } ?? nil
      if let plain = FileName.plainKey(of: file, in: schema) {
        try require(plain == key, "a plain name has another key")
        try require(
          FileName.file(for: plain).utf8.elementsEqual(file.utf8), "a plain name is not that of its key")
      }
      guard let key else { continue }
      let canonical = FileName.file(for: key)
      guard !canonical.contains("~") else { continue }
      try require(try FileName.key(of: canonical, in: schema) == key, "a key changes in its file name")
    }
    let folder = FileName.folder(for: name, besides: ["movie"])
    try require(FileName.isFolder(folder), "the folder of a model lies outside the store")
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let manifest = Manifest(changes: [
      Manifest.Change(folder: "Movie", file: "1.json", existed: true, exists: false),
      Manifest.Change(folder: ChecksumLedger.folderName, file: "Movie.00.json", existed: false, exists: true),
    ])
    let time = FileTime(seconds: -5, nanoseconds: 70)
    let status = FileStatus(size: 3, inode: 1, modified: time, changed: time)
    let checksums = JSONText.pretty(.object([JSONMember("1.json", Checksum([1, 2, 3], status).json)]))
    let names = [
      "17", "-5", "amelie", "%41m%c3%a9lie", "%", "6ba7b810-9dad-11d1-80b4-00c04fd430c8+%", "%63on", "a~b",
    ]
    return [[0] + manifest.text, [1] + checksums] + names.map { [2] + Array($0.utf8) }
  }
}
