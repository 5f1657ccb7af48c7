import PersistenceDriver

/// Prints the objects that models do not express.
struct UnmappedObjectPrinter {
  let output: ByteOutput

  func print(_ unmappedObjects: [UnmappedObject]) throws {
    guard !unmappedObjects.isEmpty else { return }
    try output.line("not copied, because models have no counterpart:")
    for object in unmappedObjects {
      let owner = object.model.map { "\($0): " } ?? ""
      let records = object.records.map { " (\($0) record\($0 == 1 ? "" : "s"))" } ?? ""
      let text = "\(owner)\(object.kind.rawValue) “\(object.name)”\(records): \(object.detail)"
      try output.line("  " + TerminalText.safe(text))
    }
    try output.line()
  }
}
