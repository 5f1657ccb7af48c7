import PersistenceDriver

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file that keeps a model's index from one process to the next: `.persistence/index/FOLDER`.
///
/// It may be deleted at any time. Nothing depends on it: one that is missing, damaged or of another format costs
/// reading the records again, and one that cannot be written costs that of the next process.
struct IndexFile: Sendable {
  static let folderName = "index"
  /// A file beyond this is not read, nor written.
  static let sizeLimit = 256 << 20
  /// A file under construction that is older was left by a process that died.
  private static let leftoverAge = FileTime(seconds: 60, nanoseconds: 0)

  /// The store's `.persistence`.
  let control: Folder
  /// The inode of the store's folder.
  let store: UInt64
  /// The name of the model's folder.
  let name: String
  let isReadOnly: Bool
  /// Called before each step of writing, by tests of what a kill leaves behind.
  let step: @Sendable (String) throws -> Void

  /// The name of the file under construction, which only one writer at a time can make.
  private var newName: String { name + ".new" }

  /// The records of the file; none where it is not there, or is not to be believed.
  func read(_ fields: IndexedFields) -> [String: IndexedRecord] {
    guard let folder = try? control.folder(Self.folderName),
      let file = try? folder.open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      let size = try? file.status().size, size <= Self.sizeLimit,
      let content = try? file.contents(), content.bytes.count <= Self.sizeLimit
    else { return [:] }
    return IndexContent.records(in: content.bytes, fields, store: store) ?? [:]
  }

  /// Replaces the file by one of these records, unless it cannot be written now.
  func write(_ records: [String: IndexedRecord], _ fields: IndexedFields) {
    guard !isReadOnly else { return }
    let content = IndexContent.bytes(of: records, fields, store: store)
    guard content.count <= Self.sizeLimit else { return }
    do {
      try step("index folder")
      let folder = try control.makeFolder(Self.folderName)
      try step("index create")
      guard let file = try create(in: folder) else { return }
      do {
        try step("index write")
        try file.write(content)
        try step("index rename")
        _ = try folder.move(newName, to: folder, as: name)
        try step("index end")
      } catch  where !(error is StoppedForTest) {
        _ = try? folder.remove(newName)
      }
    } catch {
      // It is written by a later query, or never: nothing depends on it.
    }
  }

  /// Makes the file under construction; nil while another process or thread does.
  private func create(in folder: Folder) throws -> File? {
    if let status = try folder.status(of: newName), let end = status.modified.advanced(by: Self.leftoverAge),
      end < .now
    {
      try folder.remove(newName)
    }
    return try folder.open(newName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
  }
}
