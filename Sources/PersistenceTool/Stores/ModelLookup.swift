import PersistenceDriver

extension StorageReader {
  /// The schema of a model in the catalog.
  ///
  /// - Throws: ``ToolFailure`` that lists the models that there are.
  func schema(of name: String, in location: String) throws -> ModelSchema {
    if let schema = try schema(named: name) { return schema }
    let catalog = try catalog()
    let names = catalog.map { "“\($0.name)”" }.joined(separator: ", ")
    throw ToolFailure.usage(
      "\(location) holds no model “\(name)”; "
        + (catalog.isEmpty ? "it holds none" : "it holds \(TerminalText.safe(names))"))
  }
}

extension StorageResults {
  /// Reads all rows, a page at a time, looking in between whether to stop.
  func forEach(_ session: ToolSession, _ body: (borrowing Row) throws -> Void) throws {
    let page = 64
    var offset = 0
    while true {
      try session.checkInterrupt()
      let read = try read(from: offset, limit: page, body)
      offset += read
      if read < page { return }
    }
  }
}
