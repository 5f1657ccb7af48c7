/// The files of one state of a disk after a power failure.
struct CrashState: Hashable {
  enum Entry: Hashable {
    case file([UInt8])
    case folder
    case link(destination: [UInt8])
  }

  /// The entries by their paths; a folder is before its content.
  var entries: [(path: [UInt8], entry: Entry)] = []

  static func == (left: Self, right: Self) -> Bool {
    left.entries.count == right.entries.count
      && zip(left.entries, right.entries).allSatisfy { $0.path == $1.path && $0.entry == $1.entry }
  }

  func hash(into hasher: inout Hasher) {
    for (path, entry) in entries {
      hasher.combine(path)
      // As a whole, like the copies of RecordedDisk.
      guard case .file(let bytes) = entry else {
        hasher.combine(entry)
        continue
      }
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }
}

/// What becomes of one change that is not durable.
enum Fate: Hashable {
  case lost
  case kept
  /// A write extends its file, but its bytes are lost: the new part reads as zeros.
  case sizeOnly
  /// A write is torn: the medium kept some of its sectors, chosen by a seed.
  case torn(seed: UInt64)
}

/// One change that a power failure may undo.
enum PendingChange: Hashable {
  /// A change of a name, by its position.
  case name(Int)
  /// A change of a file's content, by its position.
  case content(RecordedDisk.Node, Int)
}

extension RecordedDisk {
  /// Every change that is not durable: names first, then contents, each in the order of the calls.
  var pending: [PendingChange] {
    let names = nameChanges.indices.filter { !nameChanges[$0].isDurable }.map { PendingChange.name($0) }
    let contents = nodes.keys.sorted().flatMap { node -> [PendingChange] in
      guard case .file(let file) = nodes[node] else { return [] }
      return file.changes.indices.filter { file.changes[$0].durability != .durable }
        .map { .content(node, $0) }
    }
    return names + contents
  }

  /// Returns the files after a power failure now, with a fate for each pending change.
  func state(_ fates: [PendingChange: Fate]) -> CrashState {
    var names = durableNames
    for (index, (change, isDurable)) in nameChanges.enumerated()
    where isDurable || fates[.name(index)] != .lost {
      change.apply(to: &names)
    }
    var state = CrashState()
    func walk(_ folder: Node, _ path: [UInt8], _ depth: Int) {
      let content = (names[folder] ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
      // A folder that was moved below itself by lost changes has no end.
      guard depth < 64 else { return }
      for (name, node) in content {
        let path = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
        switch nodes[node] {
        case .file(let file):
          state.entries.append((path, .file(bytes(of: file, node, fates))))
        case .folder:
          state.entries.append((path, .folder))
          walk(node, path, depth + 1)
        case .link(let destination): state.entries.append((path, .link(destination: destination)))
        case nil: break
        }
      }
    }
    walk(Self.root, [], 0)
    return state
  }

  private func bytes(of file: File, _ node: Node, _ fates: [PendingChange: Fate]) -> [UInt8] {
    var bytes = file.durable
    for (index, change) in file.changes.enumerated() {
      let fate = change.durability == .durable ? Fate.kept : fates[.content(node, index)] ?? .kept
      switch fate {
      case .lost: break
      case .kept: change.kind.apply(to: &bytes)
      case .sizeOnly: change.kind.applySize(to: &bytes)
      case .torn(let seed):
        change.kind.applySize(to: &bytes)
        change.kind.applySectors(seed, to: &bytes)
      }
    }
    return bytes
  }

  /// Describes a pending change, for a report.
  func describe(_ change: PendingChange) -> String {
    switch change {
    case .name(let index):
      switch nameChanges[index].change {
      case .add(_, let folder, let name): return "the new name \(path(folder, name))"
      case .remove(_, let folder, let name): return "the removal of \(path(folder, name))"
      case .move(_, let folder, let name, let newFolder, let newName):
        return "the rename of \(path(folder, name)) to \(path(newFolder, newName))"
      }
    case .content(let node, let index):
      guard case .file(let file) = nodes[node] else { return "a write" }
      let name = path(of: node)
      switch file.changes[index].kind {
      case .write(let offset, let bytes): return "\(bytes.count) bytes at \(offset) of \(name)"
      case .resize(let size): return "the size \(size) of \(name)"
      }
    }
  }

  private func path(_ folder: Node, _ name: Name) -> String {
    folder == Self.root ? name.text : "\(path(of: folder))/\(name.text)"
  }

  private func path(of node: Node) -> String {
    for (folder, content) in names {
      if let name = content.first(where: { $0.value == node })?.key { return path(folder, name) }
    }
    return "a file without a name"
  }
}

extension RecordedDisk.Change.Kind {
  private static let sector = 512

  /// Extends the content as the change does, without its bytes.
  fileprivate func applySize(to content: inout [UInt8]) {
    switch self {
    case .write(let offset, let bytes): content.extend(to: offset + bytes.count)
    case .resize: apply(to: &content)
    }
  }

  /// Writes some sectors of the change.
  fileprivate func applySectors(_ seed: UInt64, to content: inout [UInt8]) {
    guard case .write(let offset, let bytes) = self else { return }
    var random = SeededGenerator(seed: seed)
    let end = offset + bytes.count
    let sectors = offset / Self.sector...max(offset, end - 1) / Self.sector
    // Half of the torn writes end early; the others lose sectors anywhere.
    let last = random.int(0...1) == 0 ? random.int(0...sectors.count - 1) : nil
    for (number, sector) in sectors.enumerated() {
      let isKept = last.map { number < $0 } ?? (random.int(0...1) == 0)
      guard isKept else { continue }
      let start = max(offset, sector * Self.sector)
      let stop = min(end, (sector + 1) * Self.sector)
      content.copy(bytes[start - offset..<stop - offset], to: start)
    }
  }
}
