import PersistenceCore

/// R3: collection semantics.
enum CollectionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("results of every size around the page size behave as collections", [.r3]) { context in
      for size in sizes { try everySize(context, size) }
    },
    ConformanceCheck("the AnyCollection from fetch behaves as a collection", [.r3]) { context in
      for size in sizes { try erased(context, size) }
    },
    ConformanceCheck(
      "indices stay valid after reads of other pages, out of order and in slices", [.r3], indices),
    ConformanceCheck("a jump forwards or backwards to any position gives the right row", [.r3], jumps),
    ConformanceCheck(
      "several threads can read one result at once, and all see the same rows", [.r3], threads),
  ]

  private static let sizes = [0, 1, 2, 127, 128, 129, 255, 256, 257, 385]

  private static func filled(_ context: ContextUnderTest, _ count: Int) throws -> Repository {
    let repository = try context.makeRepository(with: (0..<count).map { Account($0, balance: $0 % 7) })
    // A subscript cannot throw, and would end the process at a page that cannot be read.
    var read = 0
    try repository.filter(Account.self).result().forEach { _ in read += 1 }
    try expect(read, equals: count, "the records that were saved")
    return repository
  }

  /// Checks what SwiftUI's lists require: a random-access collection, and elements at offsets.
  private static func checkOffsets<Elements: RandomAccessCollection<Account>>(
    _ result: Elements, is expected: [Account], at element: (Int) -> Account
  ) throws {
    for offset in [0, 1, 15, 16, 127, 128, 300, expected.count - 1] where expected.indices.contains(offset) {
      try expect(result[result.index(result.startIndex, offsetBy: offset)], equals: expected[offset])
      try expect(element(offset), equals: expected[offset])
    }
  }

  /// Checks everything that the standard library documents of a random-access collection.
  private static func check(_ result: PersistentResults<Account>, is expected: [Account]) throws {
    let count = expected.count
    try checkOffsets(result, is: expected) { result[$0] }
    try expect(result.isEmpty, equals: expected.isEmpty)
    try expect(result.first, equals: expected.first)
    try expect(Array(result), equals: expected)
    try expect(result.count == count && result.underestimatedCount <= count)
    try expect(result.last, equals: expected.last)
    try expect(Array(result.reversed()), equals: expected.reversed())
    try expect(result.distance(from: result.startIndex, to: result.endIndex), equals: count)
    try expect(result.distance(from: result.endIndex, to: result.startIndex), equals: -count)
    try expect(result.index(result.startIndex, offsetBy: count), equals: result.endIndex)
    try expect(result.index(result.endIndex, offsetBy: -count), equals: result.startIndex)
    try expect(
      result.index(result.startIndex, offsetBy: count, limitedBy: result.endIndex), equals: result.endIndex)
    try expect(result.index(result.startIndex, offsetBy: count + 1, limitedBy: result.endIndex) == nil)
    try expect(result.index(result.endIndex, offsetBy: -count - 1, limitedBy: result.startIndex) == nil)
    for cut in [0, 1, 10, 127, 128, 129, count - 1, count, count + 1] where cut >= 0 {
      try expect(Array(result.prefix(cut)), equals: Array(expected.prefix(cut)))
      try expect(Array(result.suffix(cut)), equals: Array(expected.suffix(cut)))
      try expect(Array(result.dropFirst(cut)), equals: Array(expected.dropFirst(cut)))
      try expect(Array(result.dropLast(cut)), equals: Array(expected.dropLast(cut)))
    }
    try expect(result.map(\.id), equals: expected.map(\.id))
    try expect(Array(result.lazy.map(\.id)), equals: expected.map(\.id))
    try expect(result.contains { $0.id == expected.last?.id }, equals: (count > 0))
    try expect(result.firstIndex { $0.id == -1 } == nil)
    try expect(Array(result.indices.map { result[$0] }), equals: expected)
    try expect(result.elementsEqual(expected))
    try expect(
      result.split(whereSeparator: { $0.balance == 3 }).map(Array.init),
      equals: expected.split { $0.balance == 3 }.map(Array.init))
  }

  /// A slice is also a result, and so is a slice of a slice.
  private static func checkSlices(_ result: PersistentResults<Account>, of expected: [Account]) throws {
    for (start, length) in [(0, 10), (0, 128), (3, 130), (127, 1), (128, 200), (300, 10), (1, Int.max)] {
      let slice = result.dropFirst(start).prefix(length)
      let part = Array(expected.dropFirst(start).prefix(length))
      try check(slice, is: part)
      try check(slice.dropFirst(2).prefix(100), is: Array(part.dropFirst(2).prefix(100)))
      try expect(slice.startIndex <= slice.endIndex && slice.endIndex <= result.endIndex)
      try expect(Array(result[slice.endIndex...]), equals: Array(expected.dropFirst(start + part.count)))
      try expect(result[slice.startIndex..<slice.endIndex].count, equals: part.count)
    }
  }

  @Sendable private static func everySize(_ context: ContextUnderTest, _ size: Int) throws {
    let repository = try filled(context, size)
    let expected = (0..<size).map { Account($0, balance: $0 % 7) }
    try check(repository.filter(Account.self).result(), is: expected)
    try checkSlices(repository.filter(Account.self).result(), of: expected)
    try check(
      repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result(),
      is: expected.sorted { ($0.balance, $0.id) > ($1.balance, $1.id) })
    try check(repository.filter(Account.self).limit(128).result(), is: Array(expected.prefix(128)))
    try check(
      repository.filter(Account.self).limit(129).offset(3).result(),
      is: Array(expected.dropFirst(3).prefix(129)))
  }

  @Sendable private static func erased(_ context: ContextUnderTest, _ size: Int) throws {
    let repository = try filled(context, size)
    let expected = (0..<size).map { Account($0, balance: $0 % 7) }
    let all: AnyCollection<Account> = try repository.fetch(Account.self)
    try expect(all.isEmpty == expected.isEmpty && all.first == expected.first)
    try expect(Array(all) == expected && all.count == size)
    try expect(Array(all.prefix(130)), equals: Array(expected.prefix(130)))
    try expect(Array(all.dropFirst(128).prefix(2)), equals: Array(expected.dropFirst(128).prefix(2)))
    try expect(Array(all.suffix(2)), equals: Array(expected.suffix(2)))
    try expect(all.distance(from: all.startIndex, to: all.endIndex), equals: size)
    try expect(
      all.map(\.id) == expected.map(\.id)
        && all.contains(expected.last ?? Account(-1, balance: 0)) == !expected.isEmpty)
    if size > 0 { try expect(all[all.index(all.startIndex, offsetBy: size - 1)], equals: expected[size - 1]) }
  }

  @Sendable private static func indices(_ context: ContextUnderTest) throws {
    let repository = try filled(context, 1000)
    let result = try repository.filter(Account.self).sorted(by: \.id, inOrder: .descending).result()
    let places = [999, 0, 500, 128, 127, 640, 3, 999, 500, 383, 384].map {
      ($0, result.index(result.startIndex, offsetBy: $0))
    }
    for _ in 0..<2 {
      for (position, index) in places {
        try expect(result[index].id, equals: 999 - position)
        try expect(result.distance(from: result.startIndex, to: index), equals: position)
        if position > 0 { try expect(result[result.index(before: index)].id, equals: 1000 - position) }
      }
    }
    let from = result.index(result.startIndex, offsetBy: 120)
    let to = result.index(from, offsetBy: 140)
    let slice = result[from..<to]
    try expect(slice.startIndex == from && slice.endIndex == to && slice.count == 140)
    try expect(slice.map(\.id), equals: Array(740...879).reversed())
    try expect(slice[from].id == 879 && slice.last?.id == 740)
    try expect(slice.dropFirst(130).map(\.id), equals: slice.suffix(10).map(\.id))
    try expect(
      from < to && to < result.endIndex && result.startIndex < result.endIndex && !(result.endIndex < to))
    // Indices of one result are valid for another with the same rows.
    let again = try repository.filter(Account.self).sorted(by: \.id, inOrder: .descending).result()
    try expect(again[from].id, equals: 879)
  }

  @Sendable private static func jumps(_ context: ContextUnderTest) throws {
    let repository = try filled(context, 1500)
    var random = SeededGenerator(seed: 62)
    for query in [
      repository.filter(Account.self), repository.filter(Account.self, where: \.balance != 2),
      repository.filter(Account.self).sorted(by: \.balance),
      repository.filter(Account.self).sorted(by: \.note, inOrder: .descending),
    ] {
      let result = try query.result()
      let expected = Array(try query.result())
      for _ in 0..<40 {
        let position = random.int(0...expected.count - 1)
        try expect(result[result.index(result.startIndex, offsetBy: position)], equals: expected[position])
      }
    }
  }

  @Sendable private static func threads(_ context: ContextUnderTest) throws {
    let repository = try filled(context, 700)
    let result = try repository.filter(Account.self).sorted(by: \.balance).result()
    let expected = (0..<700).sorted { ($0 % 7, $0) < ($1 % 7, $1) }
    let outcomes = try Threads.run(6) { number -> Bool in
      switch number % 3 {
      case 0: return result.map(\.id) == expected
      case 1: return result.count == 700 && result.reversed().map(\.id) == expected.reversed()
      default:
        var random = SeededGenerator(seed: UInt64(number))
        return (0..<30).allSatisfy { _ in
          let position = random.int(0...699)
          return result[result.index(result.startIndex, offsetBy: position)].id == expected[position]
        }
      }
    }
    try expect(outcomes, equals: Array(repeating: true, count: 6))
  }
}
