import DataAccess
import PersistenceCore

/// Cancelled tasks.
enum CancellationChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("a call of a cancelled task throws cancelled and does nothing", before),
    DataSourceCheck("a task that is cancelled between two pages reads no further page", between),
  ]

  @Sendable private static func before(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1, name: "stored"))
    let calls: [@Sendable () async throws -> Void] = [
      { try await source.insert(Parcel(2)) }, { try await source.update(Parcel(1)) },
      { try await source.update(Parcel(1), replacing: Parcel(1, name: "stored")) },
      { try await source.save(Parcel(1)) }, { try await source.delete(Parcel(1)) },
      { try await source.apply(ChangeBatch([.delete(Parcel(1))])) }, { _ = try await source.find(1) },
      { _ = try await source.filter().result() }, { _ = try await source.filter().count() },
      { for try await _ in source.filter().pages(of: 1) {} },
    ]
    for (number, call) in calls.enumerated() {
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await call()
      }
      try await expectError(.cancelled, subject: "call \(number)") { try await task.value }
    }
    try expect(try await source.filter().result(), equals: [Parcel(1, name: "stored")])
  }

  @Sendable private static func between(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch((0..<20).map { .insert(Parcel($0)) }))
    let task = Task {
      var read = 0
      for try await page in source.filter().pages(of: 5) {
        read += page.count
        if read == 10 { withUnsafeCurrentTask { $0?.cancel() } }
        try expect(read <= 10, "read \(read) objects after the cancellation")
      }
    }
    try await expectError(.cancelled) { try await task.value }
  }
}
