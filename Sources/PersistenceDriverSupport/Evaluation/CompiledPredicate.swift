import PersistenceDriver
import PersistencePrimitives

/// A predicate prepared for one schema: the one evaluator of conditions (contract V3 to V7).
///
/// It reads borrowed cells, and allocates memory only to fold case. Contexts use it for conditions that they do not
/// evaluate natively.
public struct CompiledPredicate: Sendable {
  package let program: PredicateProgram

  /// The positions of the fields that the predicate reads; a row needs only these cells.
  public let positions: [Int]

  /// Prepares a predicate.
  ///
  /// - Parameters:
  ///   - node: A validated predicate, such as that of a ``FetchRequest``; nil matches every row.
  ///   - schema: The schema whose positions rows have.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` or
  ///   ``PersistenceError/Code/invalidRequest``.
  public init(_ node: PredicateNode?, in schema: ModelSchema) throws {
    let node = node ?? .constant(true)
    positions = node.fields.compactMap { schema.position(of: $0) }.sorted()
    program = try PredicateProgram(node, in: schema, positions: positions)
  }

  /// Whether a row matches.
  ///
  /// - Parameter row: A row of the schema, with at least the cells at ``positions`` filled.
  /// - Returns: Whether the row matches.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/patternTooSlow`` if a regular expression
  ///   exceeds its step limit.
  public func matches(_ row: borrowing Row) throws -> Bool { try program.matches(row) }
}

/// A condition as a list of tests, each with the number of the next test if it is true, and if it is false.
///
/// Evaluating a row needs no reference counts, except for text searches and long lists.
package final class PredicateProgram: @unchecked Sendable {  // immutable after init
  /// One test of one row.
  package struct Test {
    /// The kind of test.
    package enum Kind {
      /// A comparison with an integer or Boolean.
      case integer
      /// A comparison with a number or date.
      case double
      /// A comparison with text or bytes.
      case bytes
      /// A comparison with any other value; for a nil value, ``outcomes`` alone decides.
      case cell
      /// A comparison of two fields.
      case fields
      case isIn
      case isBetween
      case text
      /// A condition on a part of a document.
      case document
    }

    package var kind: Kind
    /// The signs of an order for which a comparison holds, and whether it does for a nil field.
    package var outcomes = Outcomes()
    package var position: Int32
    /// The other field, or the number of a list or search.
    var other: Int32 = 0
    package var whenTrue: Int32
    package var whenFalse: Int32
    /// The constant, or the lower bound.
    package var constant = RowCell.null
    var upper = RowCell.null
  }

  /// The orders of its operands for which a comparison holds.
  package struct Outcomes: OptionSet, Sendable {
    package var rawValue: UInt8 = 0
    package init(rawValue: UInt8 = 0) { self.rawValue = rawValue }
    static let less = Outcomes(rawValue: 1)
    static let equal = Outcomes(rawValue: 2)
    static let greater = Outcomes(rawValue: 4)
    /// The field is nil.
    static let isNull = Outcomes(rawValue: 8)
    /// Both fields are nil.
    static let areNull = Outcomes(rawValue: 16)
  }

  /// The results that end an evaluation.
  @inlinable package static var isTrue: Int32 { -1 }
  static var isFalse: Int32 { -2 }

  /// The positions of the tested fields, ascending.
  package let positions: UnsafeBufferPointer<Int>
  package let first: Int32
  private let tests: UnsafeMutablePointer<Test>
  private let count: Int
  private let lists: [[Constant]]
  private let searches: [TextMatcher]
  private let documents: [DocumentMatcher]
  /// The memory that the tests' cells point at.
  private let constants: [Constant]

  init(_ node: PredicateNode, in schema: ModelSchema, positions: [Int]) throws {
    var compiler = PredicateCompiler(schema: schema)
    first = try compiler.add(node, Self.isTrue, Self.isFalse)
    tests = .allocate(capacity: max(1, compiler.tests.count))
    tests.initialize(from: compiler.tests, count: compiler.tests.count)
    count = compiler.tests.count
    (lists, searches, constants) = (compiler.lists, compiler.searches, compiler.constants)
    documents = compiler.documents
    let copy = UnsafeMutableBufferPointer<Int>.allocate(capacity: positions.count)
    _ = copy.initialize(from: positions)
    self.positions = UnsafeBufferPointer(copy)
  }

  deinit {
    tests.deallocate()
    positions.deallocate()
  }

  package func matches(_ row: borrowing Row) throws -> Bool {
    var number = first
    while number >= 0 {
      let test = tests + Int(number)
      let cell = row[Int(test.pointee.position)]
      let holds: Bool
      switch test.pointee.kind {
      case .integer where cell.tag == test.pointee.constant.tag:
        let (left, right) = (cell.integerValue, test.pointee.constant.integerValue)
        holds = Self.holds(test, left < right ? -1 : left == right ? 0 : 1)
      case .double where cell.tag == test.pointee.constant.tag:
        holds = Self.holds(test, TotalOrder.compare(cell.doubleValue, test.pointee.constant.doubleValue))
      case .bytes where cell.tag == test.pointee.constant.tag:
        holds = Self.holds(test, TotalOrder.compare(cell.borrowedBytes, test.pointee.constant.borrowedBytes))
      case .integer, .double, .bytes, .cell: holds = Self.holdsOfAny(test, cell)
      case .fields: holds = Self.holds(test, cell, row[Int(test.pointee.other)])
      case .isIn: holds = !cell.isNull && Self.contains(lists[Int(test.pointee.other)], cell)
      case .isBetween:
        holds =
          !cell.isNull && RowCell.compare(test.pointee.constant, cell) <= 0
          && RowCell.compare(cell, test.pointee.upper) <= 0
      case .text:
        holds = try !cell.isNull && searches[Int(test.pointee.other)].matches(cell.borrowedText)
      case .document: holds = try documents[Int(test.pointee.other)].matches(cell)
      }
      number = holds ? test.pointee.whenTrue : test.pointee.whenFalse
    }
    return number == Self.isTrue
  }

  /// The tests; nil for any other than a comparison of a field with a number or date.
  package var comparisons: [Test?] {
    (0..<count).map { [.integer, .double].contains(tests[$0].kind) ? tests[$0] : nil }
  }

  @inline(__always)
  private static func holds(_ test: UnsafePointer<Test>, _ order: Int) -> Bool {
    let outcome: Outcomes = order < 0 ? .less : order == 0 ? .equal : .greater
    return !test.pointee.outcomes.isDisjoint(with: outcome)
  }

  /// A comparison with a constant of any kind.
  private static func holdsOfAny(_ test: UnsafePointer<Test>, _ cell: RowCell) -> Bool {
    if cell.isNull { return test.pointee.outcomes.contains(.isNull) }
    return holds(test, RowCell.compare(cell, test.pointee.constant))
  }

  private static func holds(_ test: UnsafePointer<Test>, _ left: RowCell, _ right: RowCell) -> Bool {
    switch (left.isNull, right.isNull) {
    case (false, false): holds(test, RowCell.compare(left, right))
    case (true, true): test.pointee.outcomes.contains(.areNull)
    default: test.pointee.outcomes.contains(.isNull)
    }
  }

  private static func contains(_ sorted: [Constant], _ cell: RowCell) -> Bool {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      let order = RowCell.compare(sorted[middle].cell, cell)
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// A constant of the predicate: a cell, and the bytes that it points at.
  final class Constant: @unchecked Sendable {  // immutable after init
    private let buffer = RowBuffer(count: 1)
    let cell: RowCell

    init(_ value: PersistentValue) {
      buffer.set(value, at: 0)
      cell = buffer.withRow { $0[0] }
    }
  }
}
