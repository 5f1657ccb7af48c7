import Foundation

extension RecordedRun {
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
