import Foundation
import PersistenceCore

/// O1: keys.
extension OrderChecks {
  @Sendable static func keys(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    func check<Key: PersistentKey & OracleValue & ExactText>(_ keys: [Key]) throws {
      for (number, key) in keys.enumerated() { try repository.insert(Keyed(key, "\(number)")) }
      let sorted = keys.sorted { Key.oracle($0, $1) < 0 }
      try expect(repository.fetch(Keyed<Key>.self).map(\.id.exactText), equals: sorted.map(\.exactText))
      for (number, key) in keys.enumerated() {
        try expect(repository.find(Keyed<Key>.self, id: key)?.label, equals: "\(number)")
        try expect(repository.delete(Keyed<Key>.self, id: key))
        try expect(repository.find(Keyed<Key>.self, id: key) == nil)
        try expect(repository.delete(Keyed<Key>.self, id: key) == false)
      }
      try expect(repository.count(Keyed<Key>.self), equals: 0)
    }
    try check([Int.max, 0, -1, .min, 256, 255, 1 << 32])
    try check(Int64.samples)
    try check(String.samples)
    try check(UUID.samples)
    try check([1, -1, .max, .min].map(WrappedNumber.init))
    try check(WrappedWord.allCases)
  }

  @Sendable static func compositeKeys(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 30)
    let halls = UUID.samples.prefix(3)
    var seats: [Seat] = []
    for hall in halls {
      for row in ["", "A", "A\0", "AB", "a"] {
        for number in [Int.min, -1, 0, 7, 255, 256] {
          seats.append(Seat(hall: hall, row: row, number: number, label: "\(random.int(0...3))"))
        }
      }
    }
    try repository.insert(contentsOf: seats.shuffled(using: &random))
    try expect(Array(repository.fetch(Seat.self)), equals: seats)
    for seat in seats { try expect(repository.find(Seat.self, id: seat.primaryKey), equals: seat) }
    try expectError(.duplicateKey) { try repository.insert(seats[5]) }
    let byLabel = try repository.filter(Seat.self).sorted(by: \.label, inOrder: .descending).result()
    let expected = seats.indices.sorted { (seats[$0].label, $0) > (seats[$1].label, $1) }.map { seats[$0] }
    try expect(Array(byLabel), equals: expected)
    try expect(pages(of: 7, repository.filter(Seat.self)), equals: seats)
    let byNumber = seats.indices.sorted { (seats[$0].number, $0) > (seats[$1].number, $1) }.map { seats[$0] }
    let descending = repository.filter(Seat.self).sorted(by: \.number, inOrder: .descending)
    try expect(Array(try descending.result()), equals: byNumber)
    try expect(pages(of: 4, descending), equals: byNumber)
    try expect(repository.delete(Seat.self, id: seats[3].primaryKey))
    try expect(repository.count(Seat.self), equals: seats.count - 1)
  }
}
