/// A model of a store's folder on a disk: what is durable, and what a power failure may undo.
///
/// The rules are those that POSIX promises, and no more:
///
/// - A write or resize is durable once its file is synchronized, or at once through `O_DSYNC`.
/// - A created, linked, renamed or removed name is durable once its folder is synchronized. A rename between folders is
///   durable once the folder of the new name is.
/// - Everything else may be lost or kept, in any combination; a write may be kept sector by sector.
/// - After a failed synchronization, what was not durable stays so: the kernel drops its pages.
///
/// File systems promise more: most keep names in order. An engine that depends on it loses data on another one.
struct RecordedDisk {
  typealias Node = Int
  typealias Name = [UInt8]

  struct Change {
    enum Kind {
      case write(offset: Int, bytes: [UInt8])
      case resize(Int)
    }
    enum Durability { case pending, lost, durable }
    var kind: Kind
    var durability: Durability
  }

  struct File {
    /// The content after the durable changes before ``changes``.
    var durable: [UInt8] = []
    var changes: [Change] = []
    /// Whether its content changed in memory without calls.
    var isMapped = false
  }

  enum Content {
    case file(File)
    case folder
    case link(destination: [UInt8])
  }

  enum NameChange {
    case add(Node, folder: Node, Name)
    case remove(Node, folder: Node, Name)
    case move(Node, from: Node, Name, to: Node, Name)

    /// The folder whose synchronization makes the change durable.
    var folder: Node {
      switch self {
      case .add(_, let folder, _), .remove(_, let folder, _), .move(_, _, _, let folder, _): folder
      }
    }
  }

  typealias Names = [Node: [Name: Node]]

  static let root: Node = 0

  private(set) var nodes: [Node: Content] = [root: .folder]
  /// The names after the durable changes before ``nameChanges``.
  private(set) var durableNames: Names = [:]
  private(set) var nameChanges: [(change: NameChange, isDurable: Bool)] = []
  /// The newest names.
  private(set) var names: Names = [:]
  /// What the log does not explain: the recorder missed a call.
  private(set) var problems: [String] = []
  private var open: [UInt32: Node] = [:]

  /// Applies an event.
  mutating func apply(_ event: FileEvent) {
    switch event {
    case .open(let number, let path, let isCreated, let isTruncated, let isUnnamed):
      opened(number, path, isCreated: isCreated, isUnnamed: isUnnamed)
      if isTruncated { change(number, .resize(0), isSynced: false) }
    case .write(let number, let offset, let bytes, let isSynced):
      change(number, .write(offset: offset, bytes: bytes), isSynced: isSynced)
    case .resize(let number, let size): change(number, .resize(size), isSynced: false)
    case .sync(let number, let hasFailed):
      if let node = open[number] { synchronize(node, hasFailed: hasFailed) }
    case .syncAll: for node in nodes.keys { synchronize(node, hasFailed: false) }
    case .rename(let path, let target): rename(path, to: target)
    case .link(let path, let target):
      guard let node = node(at: path) else { return report("a link to \(path.text), which nobody created") }
      add(node, at: target)
    case .linkOpen(let number, let target):
      if let node = open[number] { add(node, at: target) }
    case .unlink(let path): remove(path)
    case .makeFolder(let path): add(make(.folder), at: path)
    case .makeLink(let path, let destination): add(make(.link(destination: destination)), at: path)
    case .map(let number):
      guard let node = open[number], case .file(var file) = nodes[node] else { return }
      file.isMapped = true
      nodes[node] = .file(file)
    case .unknown(let text): report(text)
    case .mark, .fault, .count: break
    }
  }

  mutating func report(_ problem: String) { problems.append(problem) }

  private mutating func make(_ content: Content) -> Node {
    let node = nodes.count
    nodes[node] = content
    return node
  }

  private mutating func opened(_ number: UInt32, _ path: Name, isCreated: Bool, isUnnamed: Bool) {
    if isUnnamed {
      open[number] = make(.file(File()))
    } else if isCreated {
      let node = make(.file(File()))
      add(node, at: path)
      open[number] = node
    } else if let node = node(at: path) {
      open[number] = node
    } else {
      report("\(path.text) was opened, which nobody created")
    }
  }

  private mutating func change(_ number: UInt32, _ kind: Change.Kind, isSynced: Bool) {
    guard let node = open[number], case .file(var file) = nodes[node] else {
      return report("a write to file \(number), which nobody opened")
    }
    // Released first, so that the changes are appended in place.
    nodes[node] = .folder
    file.changes.append(Change(kind: kind, durability: isSynced ? .durable : .pending))
    nodes[node] = .file(file)
  }

  private mutating func synchronize(_ node: Node, hasFailed: Bool) {
    switch nodes[node] {
    case .file(var file):
      guard file.changes.contains(where: { $0.durability == .pending }) else { return }
      nodes[node] = .folder
      file.synchronize(hasFailed: hasFailed)
      nodes[node] = .file(file)
    case .folder where !hasFailed:
      for index in nameChanges.indices where nameChanges[index].change.folder == node {
        nameChanges[index].isDurable = true
      }
      let count = nameChanges.prefix { $0.isDurable }.count
      for (change, _) in nameChanges.prefix(count) { change.apply(to: &durableNames) }
      nameChanges.removeFirst(count)
    default: break
    }
  }
}

extension RecordedDisk {
  /// Returns the node at a path among the newest names.
  func node(at path: Name) -> Node? {
    var node = Self.root
    for name in path.split(separator: UInt8(ascii: "/")) {
      guard let next = names[node]?[Array(name)] else { return nil }
      node = next
    }
    return node
  }

  private func place(of path: Name) -> (folder: Node, name: Name)? {
    let parts = path.split(separator: UInt8(ascii: "/"))
    guard let name = parts.last else { return nil }
    return node(at: Array(parts.dropLast().joined(separator: [UInt8(ascii: "/")]))).map { ($0, Array(name)) }
  }

  private mutating func add(_ node: Node, at path: Name) {
    guard let (folder, name) = place(of: path) else {
      return report("\(path.text) was created in a folder that nobody created")
    }
    change(.add(node, folder: folder, name))
  }

  private mutating func remove(_ path: Name) {
    guard let (folder, name) = place(of: path), let node = names[folder]?[name] else {
      return report("\(path.text) was removed, which nobody created")
    }
    change(.remove(node, folder: folder, name))
  }

  private mutating func rename(_ path: Name, to target: Name) {
    guard let (folder, name) = place(of: path), let node = names[folder]?[name],
      let (newFolder, newName) = place(of: target)
    else { return report("\(path.text) was renamed, which nobody created") }
    // Two names of one file: the system does nothing.
    if names[newFolder]?[newName] == node { return }
    change(.move(node, from: folder, name, to: newFolder, newName))
  }

  private mutating func change(_ change: NameChange) {
    change.apply(to: &names)
    nameChanges.append((change, false))
  }
}

extension RecordedDisk.NameChange {
  /// Applies the change, also where an earlier change was lost.
  func apply(to names: inout RecordedDisk.Names) {
    switch self {
    case .add(let node, let folder, let name): names[folder, default: [:]][name] = node
    case .remove(let node, let folder, let name):
      if names[folder]?[name] == node { names[folder]?[name] = nil }
    case .move(let node, let folder, let name, let newFolder, let newName):
      if names[folder]?[name] == node { names[folder]?[name] = nil }
      names[newFolder, default: [:]][newName] = node
    }
  }
}

extension RecordedDisk.File {
  /// The newest content.
  var newest: [UInt8] {
    var bytes = durable
    for change in changes { change.kind.apply(to: &bytes) }
    return bytes
  }

  fileprivate mutating func synchronize(hasFailed: Bool) {
    for index in changes.indices where changes[index].durability == .pending {
      changes[index].durability = hasFailed ? .lost : .durable
    }
    let count = changes.prefix { $0.durability == .durable }.count
    for change in changes.prefix(count) { change.kind.apply(to: &durable) }
    changes.removeFirst(count)
  }
}

extension RecordedDisk.Change.Kind {
  func apply(to content: inout [UInt8]) {
    switch self {
    case .write(let offset, let bytes):
      content.extend(to: offset + bytes.count)
      content.copy(bytes[...], to: offset)
    case .resize(let size):
      if size < content.count {
        content.removeLast(content.count - size)
      } else {
        content.extend(to: size)
      }
    }
  }
}

/// Changes of whole ranges: element by element, as unoptimized code appends and replaces, they would be most of a trial.
extension [UInt8] {
  /// Appends zeros up to a count; a longer array stays as it is.
  mutating func extend(to count: Int) {
    guard self.count < count else { return }
    let zeros = [UInt8](repeating: 0, count: count - self.count)
    zeros.withUnsafeBufferPointer { append(contentsOf: $0) }
  }

  /// Replaces elements from an offset on, all of which exist.
  mutating func copy(_ bytes: ArraySlice<UInt8>, to offset: Int) {
    withUnsafeMutableBytes { content in
      bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: content[offset..<offset + $0.count]).copyMemory(from: $0)
      }
    }
  }
}

extension [UInt8] {
  /// A path as text for messages.
  var text: String { isEmpty ? "the store's folder" : String(decoding: self, as: UTF8.self) }
}
