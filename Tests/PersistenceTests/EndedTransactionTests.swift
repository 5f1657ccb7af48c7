import Foundation
import Persistence
import Testing

/// Tasks that inherit the scope of a transaction that has ended.
@MainActor
struct EndedTransactionTests {
  @Test("R1a a task that a transaction's closure started on its thread may use the repository after the end")
  func tasks() async throws {
    let repository = Repository(MemoryContext())
    let started = try repository.transaction { store in
      try store.save(Movie(id: UUID(), title: "One", budget: 1))
      #expect(throws: PersistenceError.self) { try repository.count(Movie.self) }
      return Task { @MainActor in
        try repository.transaction { try $0.save(Movie(id: UUID(), title: "Two", budget: 2)) }
        return try repository.count(Movie.self)
      }
    }
    #expect(try await started.value == 2)
  }
}
