import Testing
import PersistenceDriverSupport

/// U1: which transactions another one has seen.
@Suite("Numbered transactions")
struct NumberedTransactionTests {
  /// A transaction with a moment such as `735:739:735,737`.
  static func transaction(_ number: UInt64, _ moment: String) throws -> NumberedTransaction {
    try binary(moment).withUnsafeBytes { try NumberedTransaction(number, moment: $0) }
  }

  /// A moment such as `735:739:735,737` in the server's binary format.
  private static func binary(_ moment: String) throws -> [UInt8] {
    let parts = moment.split(separator: ":", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    let open = try parts[2].split(separator: ",").map { try #require(UInt64($0)) }
    return try binary(UInt32(open.count), [#require(UInt64(parts[0])), #require(UInt64(parts[1]))] + open)
  }

  private static func binary(_ count: UInt32, _ numbers: [UInt64]) -> [UInt8] {
    withUnsafeBytes(of: count.bigEndian) { Array($0) }
      + numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
  }

  @Test("U1 a transaction sees those that had ended when it began")
  func moments() throws {
    let transaction = try Self.transaction(740, "735:739:735,737")
    #expect([734, 736, 738].allSatisfy { transaction.sees($0) })
    #expect(![735, 737, 739, 745].contains { transaction.sees($0) })
    #expect(try Self.transaction(5, "5:5:").sees(4))
    let last = UInt64.max
    let greatest = try Self.transaction(last, "\(last - 2):\(last):\(last - 2)")
    #expect(greatest.sees(last - 1) && !greatest.sees(last - 2) && !greatest.sees(last))
  }

  @Test("U1 a moment is refused whose bytes are malformed")
  func malformedMoments() throws {
    let whole = try Self.binary("735:739:735,737")
    var moments: [[UInt8]] = (0..<whole.count).map { Array(whole.prefix($0)) }
    moments += [whole + [0], whole + [UInt8](repeating: 0, count: 8), Array("735:739:735,737".utf8)]
    let numbers: [(UInt32, [UInt64])] = [
      (1, [735, 739, 735, 737]), (3, [735, 739, 735, 737]), (.max, [735, 739, 735, 737]),
      (0x2000_0002, [735, 739, 735, 737]), (0, [739, 735]), (2, [735, 739, 737, 735]),
      (1, [735, 739, 734]), (1, [735, 739, 739]), (1, [735, 739, .max]),
    ]
    moments += numbers.map { Self.binary($0.0, $0.1) }
    for moment in moments {
      let error = #expect(throws: PersistenceError.self, "\(moment)") {
        try moment.withUnsafeBytes { _ = try NumberedTransaction(740, moment: $0) }
      }
      #expect(error?.code == .damaged)
    }
  }
}
