import DataAccess
import PersistenceCore

/// Tasks that are cancelled.
enum CancellationChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a call of a cancelled task throws cancelled and does nothing", before),
    DataSourceCheck("a task that is cancelled between two pages reads no third", between),
  ]

  @Sendable private static func before(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.insert(Parcel(1, name: "stored"))
      let calls: [@Sendable () async throws -> Void] = [
        { try await store.insert(Parcel(2)) }, { try await store.update(Parcel(1)) },
        { try await store.update(Parcel(1), replacing: Parcel(1, name: "stored")) },
        { try await store.save(Parcel(1)) }, { try await store.delete(Parcel(1)) },
        { try await store.apply(ChangeBatch([.delete(Parcel(1))])) }, { _ = try await store.find(1) },
        { _ = try await store.filter().result() }, { _ = try await store.filter().count() },
        { for try await _ in store.filter().pages(of: 1) {} },
      ]
      for (number, call) in calls.enumerated() {
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await call()
        }
        try await bench.expectError(.cancelled, subject: "call \(number)") { try await task.value }
      }
      try expect(try await store.filter().result(), equals: [Parcel(1, name: "stored")])
    }
  }

  @Sendable private static func between(_ bench: DataSourceTestBed) async throws {
    try await bench.withStore(of: Parcel.self) { store in
      try await store.apply(ChangeBatch((0..<20).map { .insert(Parcel($0)) }))
      let task = Task {
        var read = 0
        for try await page in store.filter().pages(of: 5) {
          read += page.count
          if read == 10 { withUnsafeCurrentTask { $0?.cancel() } }
          try expect(read <= 10, "read \(read) objects after it was cancelled")
        }
      }
      try await bench.expectError(.cancelled) { try await task.value }
    }
  }
}
