import PersistenceDriver
import PersistenceDriverSupport

/// A condition on numbers and dates that is evaluated on a packed row in place, without decoding cells.
///
/// Most conditions that reject many rows are of this kind, and they determine the cost of a scan.
final class PackedCondition: @unchecked Sendable {  // immutable after init
  /// The result for a row.
  enum Decision {
    case matches
    case fails
    /// The row is damaged; decoding it reports how.
    case damaged
  }

  private struct Test {
    let constant: UInt64
    let offset: Int32
    let nilByte: Int32
    let whenTrue: Int32
    let whenFalse: Int32
    let nilBit: UInt8
    let isOptional: Bool
    let isDouble: Bool
    let outcomes: UInt8
  }

  // The raw values of outcomes as constants of this module, which avoids calls into another one.
  private static var less: UInt8 { 1 }
  private static var equal: UInt8 { 2 }
  private static var greater: UInt8 { 4 }
  private static var isNull: UInt8 { 8 }

  private let tests: UnsafeMutableBufferPointer<Test>
  private let first: Int32
  private let head: UInt32
  private let fixedLength: Int

  /// Prepares a condition; nil if it tests other types than numbers and dates.
  init?(_ program: PredicateProgram, in layout: RowLayout) {
    var made: [Test] = []
    for test in program.comparisons {
      guard let test, Int(test.position) < layout.count else { return nil }
      let field = layout.places[Int(test.position)]
      guard field.isWord, field.tag == test.constant.tag else { return nil }
      made.append(
        Test(
          constant: test.constant.rawBits, offset: field.offset, nilByte: field.nilByte,
          whenTrue: test.whenTrue, whenFalse: test.whenFalse, nilBit: field.nilBit,
          isOptional: field.isOptional, isDouble: test.kind == .double, outcomes: test.outcomes.rawValue))
    }
    guard !made.isEmpty else { return nil }
    first = program.first
    head = layout.head
    fixedLength = layout.fixedLength
    tests = .allocate(capacity: made.count)
    _ = tests.initialize(from: made)
  }

  deinit { tests.deallocate() }

  /// Checks the fixed part of a row and evaluates the condition.
  @inline(__always)
  func decide(_ row: UnsafeRawBufferPointer) -> Decision {
    guard row.count >= fixedLength, let base = row.baseAddress,
      PackedRow.isFixedPartSound(base, head: head, fixedLength: fixedLength, count: row.count)
    else { return .damaged }
    let tests = tests.baseAddress.unsafelyUnwrapped  // never empty
    var number = first
    while number >= 0 {
      let test = tests + Int(number)
      let outcome: UInt8
      if base.load(fromByteOffset: Int(test.pointee.nilByte), as: UInt8.self) & test.pointee.nilBit != 0 {
        guard test.pointee.isOptional else { return .damaged }
        outcome = Self.isNull
      } else {
        let bits = UInt64(
          littleEndian: base.loadUnaligned(fromByteOffset: Int(test.pointee.offset), as: UInt64.self))
        let order: Int
        if test.pointee.isDouble {
          order = TotalOrder.compare(
            Double(bitPattern: bits), Double(bitPattern: test.pointee.constant))
        } else {
          let (left, right) = (Int64(bitPattern: bits), Int64(bitPattern: test.pointee.constant))
          order = left < right ? -1 : left == right ? 0 : 1
        }
        outcome = order < 0 ? Self.less : order == 0 ? Self.equal : Self.greater
      }
      number = test.pointee.outcomes & outcome != 0 ? test.pointee.whenTrue : test.pointee.whenFalse
    }
    return number == PredicateProgram.isTrue ? .matches : .fails
  }
}
