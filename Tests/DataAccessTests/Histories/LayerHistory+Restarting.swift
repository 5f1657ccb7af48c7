import DataAccess
import PersistenceConformance
import PersistenceCore

extension LayerHistory {
  /// Ends the operations in flight, and opens the local store again, as another process would after them.
  mutating func restart() async throws {
    guard let store else { return }
    while mistakes.isEmpty, let index = inFlight.indices.first {
      try await end(index, outcome(of: inFlight[index]))
    }
    steps.append("restart")
    sources = []
    try repository.close()
    repository = try store.open()
    sources = [
      try LayeredDataSource(local: repository.dataSource(of: Note.self), remote: remote, options: options)
    ]
    // A restart alone must not make an earlier state whole.
    try await check()
  }
}
