import Foundation

/// A run of the worker whose file calls were recorded.
struct RecordedRun {
  /// A moment at which the power may fail: after an event.
  struct Moment {
    var disk: RecordedDisk
    var history: CommitHistory
    /// What happened last, for a report.
    var cause: String
    /// Whether a transaction has just been acknowledged or seen.
    var isPromise: Bool
  }

  let events: [FileEvent]
  /// The moments at which the disk or the promises changed, in order.
  let moments: [Moment]
  /// The disk at the end.
  let disk: RecordedDisk
  /// What the worker had promised at its end.
  let history: CommitHistory
  /// The fault that happened, if any.
  let hasFault: Bool

  init(_ events: [FileEvent]) {
    self.events = events
    var disk = RecordedDisk()
    var history = CommitHistory()
    var moments = [
      Moment(disk: disk, history: history, cause: "before the store was created", isPromise: true)
    ]
    var hasFault = false
    for event in events {
      disk.apply(event)
      switch event {
      case .mark(let line):
        history.take(line)
        let isPromise = ["ack ", "seen ", "closed", "open"].contains { line.hasPrefix($0) }
        guard isPromise || line.hasPrefix("refused ") else { continue }
        moments.append(
          Moment(disk: disk, history: history, cause: Self.cause(line), isPromise: isPromise))
      case .open(_, _, let isCreated, let isTruncated, _) where !isCreated && !isTruncated: continue
      case .map, .count, .unknown: continue
      case .fault: hasFault = true
      default:
        moments.append(Moment(disk: disk, history: history, cause: Self.cause(event), isPromise: false))
      }
    }
    (self.moments, self.disk, self.history, self.hasFault) = (moments, disk, history, hasFault)
  }

  /// The number of calls of a class.
  func count(_ calls: FileFault.Calls) -> Int {
    for case .count(calls, let count) in events { return count }
    return 0
  }

  /// Returns what the recorder missed: differences between the model and the folder that the worker left.
  ///
  /// The content of files that are mapped into memory is not compared.
  func missedCalls(in folder: URL) throws -> [String] {
    var problems = disk.problems
    var found: Set<[UInt8]> = []
    for (path, entry) in disk.newestEntries {
      found.insert(path)
      let place = folder.path + "/" + path.text
      if case .file(let file) = entry, !file.isMapped {
        let content = FileManager.default.contents(atPath: place).map { [UInt8]($0) }
        if content != file.newest {
          problems.append("\(path.text) has other bytes than were recorded")
        }
      } else if !FileManager.default.fileExists(atPath: place) {
        problems.append("\(path.text) was removed by a call that was not recorded")
      }
    }
    for path in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? []
    where !found.contains(Array(path.utf8)) {
      problems.append("\(path) was created by a call that was not recorded")
    }
    return problems
  }

  private static func cause(_ line: String) -> String {
    let words = line.split(separator: " ")
    let number = words.count > 1 ? " of transaction \(words[1])" : ""
    switch words.first {
    case "ack": return "after the acknowledgement\(number)"
    case "seen": return "after a reader saw the commit\(number)"
    case "refused": return "after the refusal\(number)"
    case "open": return "after the opening"
    default: return "after the close"
    }
  }

  private static func cause(_ event: FileEvent) -> String {
    switch event {
    case .sync(_, let hasFailed): hasFailed ? "after a failed synchronization" : "after a synchronization"
    case .syncAll: "after the synchronization of the file system"
    case .rename(_, let path): "after the rename to \(path.text)"
    case .unlink(let path): "after the removal of \(path.text)"
    case .open(_, let path, _, _, _), .makeFolder(let path): "after the creation of \(path.text)"
    case .write(_, let offset, let bytes, _): "after the write of \(bytes.count) bytes at \(offset)"
    case .resize(_, let size): "after a change of size to \(size)"
    case .fault(let calls, let number, _): "after the failed \(calls) \(number)"
    default: "after a change of names"
    }
  }
}

extension RecordedDisk {
  /// The newest files and folders by their paths.
  var newestEntries: [(path: [UInt8], content: Content)] {
    var entries: [(path: [UInt8], content: Content)] = []
    func walk(_ folder: Node, _ path: [UInt8]) {
      for (name, node) in names[folder] ?? [:] {
        guard let content = nodes[node] else { continue }
        let path = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
        entries.append((path, content))
        if case .folder = content { walk(node, path) }
      }
    }
    walk(Self.root, [])
    return entries
  }
}
