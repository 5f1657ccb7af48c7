package import PersistenceDriver

extension StorageReader {
  /// Reads every record with all its values, and reports those that cannot be read.
  ///
  /// It is the check of a store whose engine has no other, and a part of the check of one whose engine has.
  package func verifyByReading(_ report: (StoreFinding) throws -> Void) throws {
    for schema in try catalog() { try verifyRecords(of: schema, report) }
  }

  private func verifyRecords(of schema: ModelSchema, _ report: (StoreFinding) throws -> Void) throws {
    let page = 64
    // A damaged tree may fail at every record.
    let findingLimit = 1_000
    var (offset, end, findings) = (0, Int.max, 0)
    func failed(_ error: PersistenceError) throws {
      findings += 1
      let key = error.key.map { " \($0)" } ?? ""
      try report(StoreFinding(.damaged, schema.name + key, error.message))
    }
    let results: any StorageResults
    do {
      results = try fetch(FetchRequest(schema))
      end = try results.count()
    } catch let error as PersistenceError where error.isOfData {
      return try failed(error)
    }
    var singles = 0
    while offset < end, findings < findingLimit {
      try ReadInterruption.check()
      do {
        let read = try results.read(from: offset, limit: singles > 0 ? 1 : page) { row in
          for position in schema.fields.indices { _ = try row.value(at: position) }
        }
        if read == 0 { return }
        offset += read
        singles -= 1
      } catch let error as PersistenceError where error.isOfData {
        // The records of the page are read one at a time, to find those that cannot be.
        if singles <= 0 {
          singles = page
          continue
        }
        try failed(error)
        offset += 1
        singles -= 1
      }
    }
  }
}

extension PersistenceError {
  /// Whether the stored data caused the error, and not the caller or the system.
  fileprivate var isOfData: Bool {
    [.damaged, .inputOutput, .unknownCase, .engineFailure, .changedOutside].contains(code)
  }
}
