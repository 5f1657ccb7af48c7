/// What happened at a moment, in words.
extension RecordedRun {
  static func cause(_ line: String) -> String {
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

  static func cause(_ event: FileEvent) -> String {
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
