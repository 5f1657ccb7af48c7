import ContextTestSupport
import PersistenceCore
import Testing

@Suite("R3: collection semantics")
struct CollectionTests {
  private static let sizes = [0, 1, 2, 127, 128, 129, 255, 256, 257, 385]

  private func filled(_ context: ContextUnderTest, _ count: Int) throws -> Repository {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (0..<count).map { Account($0, balance: $0 % 7) })
    return repository
  }

  /// Everything that the standard library documents of a bidirectional collection of these elements.
  private func check(_ result: PersistentResults<Account>, is expected: [Account]) {
    let count = expected.count
    #expect(result.isEmpty == expected.isEmpty)
    #expect(result.first == expected.first)
    #expect(Array(result) == expected)
    #expect(result.count == count && result.underestimatedCount <= count)
    #expect(result.last == expected.last)
    #expect(Array(result.reversed()) == expected.reversed())
    #expect(result.distance(from: result.startIndex, to: result.endIndex) == count)
    #expect(result.distance(from: result.endIndex, to: result.startIndex) == -count)
    #expect(result.index(result.startIndex, offsetBy: count) == result.endIndex)
    #expect(result.index(result.endIndex, offsetBy: -count) == result.startIndex)
    #expect(result.index(result.startIndex, offsetBy: count, limitedBy: result.endIndex) == result.endIndex)
    #expect(result.index(result.startIndex, offsetBy: count + 1, limitedBy: result.endIndex) == nil)
    #expect(result.index(result.endIndex, offsetBy: -count - 1, limitedBy: result.startIndex) == nil)
    for cut in [0, 1, 10, 127, 128, 129, count - 1, count, count + 1] where cut >= 0 {
      #expect(Array(result.prefix(cut)) == Array(expected.prefix(cut)))
      #expect(Array(result.suffix(cut)) == Array(expected.suffix(cut)))
      #expect(Array(result.dropFirst(cut)) == Array(expected.dropFirst(cut)))
      #expect(Array(result.dropLast(cut)) == Array(expected.dropLast(cut)))
    }
    #expect(result.map(\.id) == expected.map(\.id))
    #expect(Array(result.lazy.map(\.id)) == expected.map(\.id))
    #expect(result.contains { $0.id == count - 1 } == (count > 0))
    #expect(result.firstIndex { $0.id == -1 } == nil)
    #expect(Array(result.indices.map { result[$0] }) == expected)
    #expect(result.elementsEqual(expected))
    #expect(
      result.split(whereSeparator: { $0.balance == 3 }).map(Array.init)
        == expected.split { $0.balance == 3 }.map(Array.init))
  }

  @Test(
    "R3 results of every size around a page behave as collections do", arguments: ContextUnderTest.all, sizes)
  func everySize(context: ContextUnderTest, size: Int) throws {
    let repository = try filled(context, size)
    let expected = (0..<size).map { Account($0, balance: $0 % 7) }
    check(try repository.filter(Account.self).result(), is: expected)
    check(
      try repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result(),
      is: expected.sorted { ($0.balance, $0.id) > ($1.balance, $1.id) })
    check(try repository.filter(Account.self).limit(128).result(), is: Array(expected.prefix(128)))
    check(
      try repository.filter(Account.self).limit(129).offset(3).result(),
      is: Array(expected.dropFirst(3).prefix(129)))
  }

  @Test("R3 fetch's AnyCollection does the same", arguments: ContextUnderTest.all, sizes)
  func erased(context: ContextUnderTest, size: Int) throws {
    let repository = try filled(context, size)
    let expected = (0..<size).map { Account($0, balance: $0 % 7) }
    let all: AnyCollection<Account> = try repository.fetch(Account.self)
    #expect(all.isEmpty == expected.isEmpty && all.first == expected.first)
    #expect(Array(all) == expected && all.count == size)
    #expect(Array(all.prefix(130)) == Array(expected.prefix(130)))
    #expect(Array(all.dropFirst(128).prefix(2)) == Array(expected.dropFirst(128).prefix(2)))
    #expect(Array(all.suffix(2)) == Array(expected.suffix(2)))
    #expect(all.distance(from: all.startIndex, to: all.endIndex) == size)
    #expect(
      all.map(\.id) == expected.map(\.id)
        && all.contains(expected.last ?? Account(-1, balance: 0)) == !expected.isEmpty)
    if size > 0 { #expect(all[all.index(all.startIndex, offsetBy: size - 1)] == expected[size - 1]) }
  }

  @Test(
    "R3 indices are used again, after other pages were read, out of order and in slices",
    arguments: ContextUnderTest.all)
  func indices(context: ContextUnderTest) throws {
    let repository = try filled(context, 1000)
    let result = try repository.filter(Account.self).sorted(by: \.id, inOrder: .descending).result()
    let places = [999, 0, 500, 128, 127, 640, 3, 999, 500, 383, 384].map {
      ($0, result.index(result.startIndex, offsetBy: $0))
    }
    for _ in 0..<2 {
      for (position, index) in places {
        #expect(result[index].id == 999 - position)
        #expect(result.distance(from: result.startIndex, to: index) == position)
        if position > 0 { #expect(result[result.index(before: index)].id == 1000 - position) }
      }
    }
    let from = result.index(result.startIndex, offsetBy: 120)
    let to = result.index(from, offsetBy: 140)
    let slice = result[from..<to]
    #expect(slice.startIndex == from && slice.endIndex == to && slice.count == 140)
    #expect(slice.map(\.id) == Array(740...879).reversed())
    #expect(slice[from].id == 879 && slice.last?.id == 740)
    #expect(slice.dropFirst(130).map(\.id) == slice.suffix(10).map(\.id))
    #expect(
      from < to && to < result.endIndex && result.startIndex < result.endIndex && !(result.endIndex < to))
    // Indices of one result fit another that shows the same.
    let again = try repository.filter(Account.self).sorted(by: \.id, inOrder: .descending).result()
    #expect(again[from].id == 879)
  }

  @Test(
    "R3 positions are reached by jumps, forwards and backwards, in any order", arguments: ContextUnderTest.all
  )
  func jumps(context: ContextUnderTest) throws {
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
        #expect(result[result.index(result.startIndex, offsetBy: position)] == expected[position])
      }
    }
  }

  @Test("R3 several threads read one result at once, each the same", arguments: ContextUnderTest.all)
  func threads(context: ContextUnderTest) throws {
    let repository = try filled(context, 700)
    let result = try repository.filter(Account.self).sorted(by: \.balance).result()
    let expected = (0..<700).sorted { ($0 % 7, $0) < ($1 % 7, $1) }
    let outcomes = Threads.run(6) { number -> Bool in
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
    #expect(outcomes == Array(repeating: true, count: 6))
  }
}
