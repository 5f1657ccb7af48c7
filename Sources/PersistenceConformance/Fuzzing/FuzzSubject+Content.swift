import PersistenceDriver

extension FuzzSubject {
  /// Adds the outcome of reading all that the store contains.
  func content(_ reader: any StorageReader, _ path: [Int], _ outcomes: inout [FuzzOutcome]) {
    func add(_ label: String, _ value: () throws -> FuzzOutcome.Value) {
      do {
        outcomes.append(FuzzOutcome(path, label, try value()))
      } catch {
        outcomes.append(FuzzOutcome(path, label, .code(Self.code(error))))
      }
    }
    add("catalog") { .names(try reader.catalog().filter { !$0.isReserved }.map(FuzzReference.text)) }
    for query in contentQueries {
      add(FuzzContent.label) {
        .rows(
          try Self.rows(of: try reader.fetch(try query.request(in: schemas, fewKeys: fewKeys, by: reader))))
      }
    }
  }
}
