import PersistenceCore
import Synchronization
import Testing
import PersistenceDriverSupport

/// A context that counts the rows read from it.
private final class CountingContext: StorageContextWrapper, RowChangingWrapper {
  let wrapped: any StorageContext = MemoryContext()
  let rows = Mutex(0)
  let usesRandomAccess: Bool

  init(usesRandomAccess: Bool = false) { self.usesRandomAccess = usesRandomAccess }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    CountingResults(context: self, wrapped: try wrapped.fetch(request))
  }
}

private final class CountingResults: StorageResults {
  private let context: CountingContext
  private let wrapped: any StorageResults

  init(context: CountingContext, wrapped: any StorageResults) {
    self.context = context
    self.wrapped = wrapped
  }

  var usesRandomAccess: Bool { context.usesRandomAccess }

  func count() throws -> Int { try wrapped.count() }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try wrapped.read(from: offset, limit: limit) { row in
      context.rows.withLock { $0 += 1 }
      try body(row)
    }
  }
}

@Suite("Slices of results")
struct SliceTests {
  @Test("R3 a slice reads only its own rows, in every form of iteration")
  func reading() throws {
    let context = CountingContext()
    let repository = Repository(context)
    try repository.save(contentsOf: (0..<1_000).map { Visit(id: $0) })
    let result = try repository.filter(Visit.self).result()
    let page = PersistentResults<Visit>.pageSize

    func reads(_ expected: Int, _ iterate: () throws -> Void) rethrows {
      context.rows.withLock { $0 = 0 }
      try iterate()
      #expect(context.rows.withLock(\.self) == expected)
    }
    reads(0) {
      let slice = result.dropFirst(500).prefix(300).dropFirst(100)
      #expect(Array(slice.prefix(0)).isEmpty)
      #expect(Array(result.prefix(page)).count == page)
    }
    reads(10) { #expect(Array(result.dropFirst(600).prefix(10)).map(\.id) == Array(600..<610)) }
    reads(2 * page + 5) { for _ in result.dropFirst(200).prefix(2 * page + 5) {} }
    try reads(page + 1) { try result.dropFirst(200).prefix(page + 1).forEach { _ in } }
    reads(7) { #expect(result.dropFirst(993).map(\.id) == Array(993..<1_000)) }
  }

  @Test("R3 random-access results read few rows ahead, and return all of them")
  func scattered() throws {
    let context = CountingContext(usesRandomAccess: true)
    let repository = Repository(context)
    try repository.save(contentsOf: (0..<1_000).map { Visit(id: $0) })
    let firstTen = AnyCollection(try repository.filter(Visit.self).result()).prefix(10)
    #expect(firstTen.map(\.id) == Array(0..<10))
    #expect(context.rows.withLock(\.self) < 20)
    let result = try repository.filter(Visit.self).result()
    #expect(Array(result).map(\.id) == Array(0..<1_000))
    #expect(result.reversed().map(\.id) == Array((0..<1_000).reversed()))
    for offset in [0, 15, 16, 17, 127, 128, 300, 999] {
      #expect(result[result.index(result.startIndex, offsetBy: offset)].id == offset)
    }
    #expect(result.dropFirst(10).prefix(200).map(\.id) == Array(10..<210))
  }
}

private struct Visit: PersistentRecord, Equatable {
  var id: Int

  static let schema = RecordSchema<Visit>("Visit", fields: [.field("id", \.id)], key: [\.id])
  var primaryKey: Int { id }
  init(id: Int) { self.id = id }
  init(from row: borrowing Row) throws { id = try row.decode(at: 0) }
  func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
}
