import PersistenceDriver

/// The uncommitted changes of a transaction: the newest text of each file, with savepoints.
struct PendingFiles {
  struct Name: Hashable {
    var folder: String
    var file: String
  }

  /// The pending state of a file.
  struct Pending {
    /// The new text in memory.
    var text: [UInt8]?
    /// The new text outside memory; if both are nil, the file is deleted.
    var spooled: SpooledText?
    /// The values of the model's unique indexes.
    var unique: [[PersistentValue]?] = []

    var exists: Bool { text != nil || spooled != nil }

    /// The new text; nil to delete the file.
    func bytes() throws -> [UInt8]? { try spooled?.read() ?? text }
  }

  private struct UniqueKey: Hashable {
    var folder: String
    var index: Int
    var values: [PersistentValue]
  }

  private(set) var files: [Name: Pending] = [:]
  private var holders: [UniqueKey: String] = [:]
  private var log: [(name: Name, before: Pending?)] = []

  /// The files that the transaction changed in a folder.
  func names(in folder: String) -> [String: Bool] {
    var names: [String: Bool] = [:]
    for (name, pending) in files where name.folder == folder { names[name.file] = pending.exists }
    return names
  }

  /// The pending file with these values of a unique index.
  func holder(of values: [PersistentValue], index: Int, in folder: String) -> String? {
    holders[UniqueKey(folder: folder, index: index, values: values)]
  }

  mutating func set(_ name: Name, _ pending: Pending) {
    log.append((name, files[name]))
    replace(name, pending)
  }

  var mark: Int { log.count }

  mutating func undo(to mark: Int) {
    while log.count > mark {
      let change = log.removeLast()
      replace(change.name, change.before)
    }
  }

  private mutating func replace(_ name: Name, _ pending: Pending?) {
    for (index, values) in (files[name]?.unique ?? []).enumerated() {
      guard let values else { continue }
      let key = UniqueKey(folder: name.folder, index: index, values: values)
      if holders[key] == name.file { holders[key] = nil }
    }
    files[name] = pending
    for (index, values) in (pending?.unique ?? []).enumerated() {
      if let values { holders[UniqueKey(folder: name.folder, index: index, values: values)] = name.file }
    }
  }
}
