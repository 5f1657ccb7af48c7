import Foundation
import PersistenceDriver

/// The file that keeps a model's index between processes: `.persistence/index/FOLDER`.
///
/// It is a cache and may be deleted at any time. If it is missing, damaged or of another format, the engine
/// reads the records again. If it cannot be written, the next process does.
struct IndexFile: Sendable {
  static let folderName = "index"
  /// The size limit for reading and writing.
  static let sizeLimit = 256 << 20
  /// A temporary file older than this was left by a process that died.
  private static let leftoverAge = FileTime(seconds: 60, nanoseconds: 0)

  /// The store's `.persistence`.
  let control: Folder
  /// The inode of the store's folder.
  let store: UInt64
  /// The name of the model's folder.
  let name: String
  let isReadOnly: Bool
  /// Called before each step of a write, so that tests can stop there.
  let step: @Sendable (String) throws -> Void

  /// The name of the temporary file, which only one writer at a time can create.
  private var newName: String { name + ".new" }

  /// The records of the file; none if it is missing or invalid.
  func read(_ fields: IndexedFields) -> [String: IndexedRecord] {
    guard let folder = try? control.folder(Self.folderName),
      let file = try? folder.open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      let size = try? file.status().size, size <= Self.sizeLimit,
      let content = try? file.contents(), content.bytes.count <= Self.sizeLimit
    else { return [:] }
    return IndexContent.records(in: content.bytes, fields, store: store) ?? [:]
  }

  /// Replaces the file, or does nothing if it cannot be written now.
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
      // A later query writes it, or none does: the index is only a cache.
    }
  }

  /// Creates the temporary file; nil while another process or thread is writing one.
  private func create(in folder: Folder) throws -> File? {
    if let status = try folder.status(of: newName), let end = status.modified.advanced(by: Self.leftoverAge),
      end < .now
    {
      try folder.remove(newName)
    }
    return try folder.open(newName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
  }
}
