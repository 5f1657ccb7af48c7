extension PathConflicts {
  struct Entry {
    /// The role, for messages, for example `the source` or `--report`.
    let name: String
    let path: String
    let isStore: Bool
    let isWritten: Bool
    /// The path and the engine's companion files.
    let files: [FileLocation]
    /// The URL's scheme and path, and the options that choose a store, if it has no local files.
    var remote: [String] = []
  }

  static func checkConflict(_ entry: Entry, _ other: Entry) throws {
    if entry.isStore, other.isStore {
      guard overlap(entry, other) || (!entry.remote.isEmpty && entry.remote == other.remote) else {
        return
      }
      throw ToolFailure.usage("\(other.name) and \(entry.name) are the same store, \(entry.path)")
    }
    // If both are written, the file would destroy the store.
    let isFirst = entry.isWritten && !(entry.isStore && other.isWritten)
    let (written, kept) = isFirst ? (entry, other) : (other, entry)
    guard !overlap(written, kept) else {
      throw ToolFailure.usage("\(written.name) \(written.path) would overwrite \(kept.name)")
    }
    guard !written.isStore, kept.isStore, let file = written.files.first, let store = kept.files.first,
      file.isWithin(store)
    else { return }
    throw ToolFailure.usage("\(written.name) \(written.path) lies within \(kept.name)")
  }

  private static func overlap(_ entry: Entry, _ other: Entry) -> Bool {
    entry.files.contains { file in
      !file.isSpecial && other.files.contains { file.isSame(as: $0) }
    }
  }
}
