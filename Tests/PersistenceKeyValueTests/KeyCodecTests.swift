import PersistenceConformance
import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

@Suite("The key codec")
struct KeyCodecTests {
  @Test("V3 V4 V4a O3 encoded values sort like the values", arguments: RandomValues.orderedKinds)
  func order(kind: FieldKind) throws {
    var values = RandomValues(seed: 1)
    let all = [PersistentValue.null] + (0..<200).map { _ in values.value(kind) }
    let keys = try all.map { try KeyCodec.bytes(of: [$0]) }
    for (left, first) in zip(all, keys) {
      for (right, second) in zip(all, keys)
      where ByteOrder.compare(first, second).signum() != PersistentValue.compare(left, right).signum() {
        Issue.record("\(left) and \(right)")
      }
    }
  }

  @Test("O1 O2 compound keys sort value by value, ascending or descending")
  func composites() throws {
    var values = RandomValues(seed: 2)
    let kinds = RandomValues.orderedKinds
    for round in 0..<200 {
      let shape = (0..<values.random.int(1...3)).map { _ in values.random.pick(kinds) }
      let descending = shape.map { _ in values.random.oneIn(2) }
      let rows = (0..<30).map { _ in
        shape.map { kind in values.random.oneIn(5) ? .null : values.value(kind) }
      }
      let keys = try rows.map { try key($0, descending) }
      for (left, first) in zip(rows, keys) {
        for (right, second) in zip(rows, keys)
        where ByteOrder.compare(first, second).signum() != compare(left, right, descending) {
          Issue.record("round \(round): \(left), \(right)")
        }
      }
    }
  }

  private func key(_ row: [PersistentValue], _ descending: [Bool]) throws -> [UInt8] {
    let buffer = RowBuffer(count: row.count)
    buffer.set(row)
    let key = ByteBuffer()
    try buffer.withRow { row in
      for (position, isDescending) in descending.enumerated() {
        try KeyCodec.append(cell: row[position], isDescending: isDescending, to: key)
      }
    }
    key.append(KeyCodec.afterLast)
    return key.array
  }

  private func compare(_ left: [PersistentValue], _ right: [PersistentValue], _ descending: [Bool]) -> Int {
    for index in left.indices {
      let order = PersistentValue.compare(left[index], right[index]).signum()
      if order != 0 { return descending[index] ? -order : order }
    }
    return 0
  }

  @Test("V2 values survive encoding and decoding", arguments: RandomValues.orderedKinds)
  func roundTrip(kind: FieldKind) throws {
    var values = RandomValues(seed: 3)
    for _ in 0..<300 {
      let row = [values.value(kind), .null, values.value(kind)]
      let key = try KeyCodec.bytes(of: row)
      #expect(try key.withUnsafeBytes { try KeyCodec.values(in: $0) } == row)
    }
  }

  @Test("E5 malformed keys are rejected without reading beyond their bytes")
  func hostile() throws {
    var values = RandomValues(seed: 4)
    var refused = 0
    for _ in 0..<20_000 {
      let row = [values.value(values.random.pick(RandomValues.orderedKinds))]
      var key = try KeyCodec.bytes(of: row)
      for _ in 0..<values.random.int(1...3) {
        let index = values.random.int(0...key.count - 1)
        if values.random.oneIn(3), key.count > 1 {
          key.removeLast(values.random.int(1...key.count - 1))
          break
        }
        key[index] = UInt8(truncatingIfNeeded: values.random.next())
      }
      do {
        _ = try key.withUnsafeBytes { try KeyCodec.values(in: $0) }
      } catch let error as PersistenceError {
        #expect(error.code == .damaged)
        refused += 1
      }
    }
    #expect(refused > 1000)
  }

  @Test("V4a decimals of any size and exponent sort by value")
  func decimals() throws {
    let texts = [
      "NaN", "0", "1", "-1", "10", "9.99", "0.000000000000000000000000001", "-0.000000000000000000000000001",
      "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0.1", "0.10",
      "0.11",
      "1e100", "1e-100", "-1e100", "12345678901234567890.123456789", "12345678901234567890.12345678",
    ]
    let numbers = texts.compactMap { Decimal(canonicalText: $0) }
    #expect(numbers.count == texts.count)
    for left in numbers {
      let first = try KeyCodec.bytes(of: [.decimal(left)])
      #expect(try first.withUnsafeBytes { try KeyCodec.values(in: $0) } == [.decimal(left)])
      for right in numbers {
        let second = try KeyCodec.bytes(of: [.decimal(right)])
        #expect(
          ByteOrder.compare(first, second).signum() == TotalOrder.compare(left, right).signum(),
          "\(left) and \(right)")
      }
    }
  }
}
