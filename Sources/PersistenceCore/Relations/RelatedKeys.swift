package import PersistenceDriver

/// The keys that the records of a page refer to, each once.
///
/// It knows no types of records: code that is generic at run time would look types up for every key.
@usableFromInline
struct RelatedKeys {
  /// Each key once.
  let all: [PersistentValue]

  /// The number of each record's key; negative for none.
  private let numbers: [Int]

  /// Finds the number of a key.
  private let index: Index

  private enum Index {
    /// Most keys are integers, which cost less to hash than values.
    case integers(IntegerNumbers)
    case values([PersistentValue: Int])
  }

  /// Collects the keys that records refer to; null refers to none.
  @usableFromInline
  init(_ values: [PersistentValue]) {
    if let integers = Self.integers(values) {
      (all, numbers, index) = (integers.keys, integers.numbers, .integers(integers.known))
      return
    }
    var known: [PersistentValue: Int] = Dictionary(minimumCapacity: values.count)
    var (all, numbers): ([PersistentValue], [Int]) = ([], [])
    for value in values {
      if value.isNull {
        numbers.append(-1)
      } else if let number = known[value] {
        numbers.append(number)
      } else {
        known[value] = all.count
        numbers.append(all.count)
        all.append(value)
      }
    }
    (self.all, self.numbers, index) = (all, numbers, .values(known))
  }

  /// The integers among values that are integers or null, each once and in order; the number of each value's, and of each
  /// integer.
  private static func integers(_ values: [PersistentValue]) -> (
    keys: [PersistentValue], numbers: [Int], known: IntegerNumbers
  )? {
    var known = IntegerNumbers(capacity: values.count)
    var numbers: [Int] = []
    numbers.reserveCapacity(values.count)
    for value in values {
      switch value {
      case .integer(let key): numbers.append(known.add(key))
      case .null: numbers.append(-1)
      default: return nil
      }
    }
    // A request lists its values in order.
    return (known.all.sorted().map { .integer($0) }, numbers, known)
  }

  /// Finds the records of the keys among those that were read.
  ///
  /// - Parameter found: The keys of the records that were read.
  /// - Returns: For each record of the page, the place of the record it refers to; negative for none.
  @usableFromInline
  func places(of found: [PersistentValue]) -> [Int] {
    var places = Array(repeating: -1, count: all.count)
    for (place, key) in found.enumerated() {
      if let number = number(of: key) { places[number] = place }
    }
    return numbers.map { $0 < 0 ? -1 : places[$0] }
  }

  private func number(of key: PersistentValue) -> Int? {
    switch index {
    case .values(let numbers): return numbers[key]
    case .integers(let numbers):
      guard case .integer(let key) = key else { return nil }
      return numbers[key]
    }
  }
}

/// Integers of a page, each once, and their numbers in the order of their addition.
///
/// A hash table with open addressing. The hash of the standard library resists chosen keys, and costs as much as decoding
/// a record; a page has a thousand keys at most, so chosen ones cost a millisecond.
private struct IntegerNumbers {
  private(set) var all: [Int64] = []
  /// The numbers by slot; negative for an empty one.
  private var slots: [Int32]
  private let shift: UInt64

  init(capacity: Int) {
    let bits = Int.bitWidth - max(1, capacity).leadingZeroBitCount + 1
    slots = Array(repeating: -1, count: 1 << bits)
    shift = UInt64(64 - bits)
    all.reserveCapacity(capacity)
  }

  /// The number of an integer; nil if it was not added.
  subscript(key: Int64) -> Int? {
    let number = slots[slot(of: key)]
    return number < 0 ? nil : Int(number)
  }

  /// Adds an integer, and returns its number; at most as many as the capacity.
  mutating func add(_ key: Int64) -> Int {
    let slot = slot(of: key)
    if slots[slot] >= 0 { return Int(slots[slot]) }
    slots[slot] = Int32(all.count)
    all.append(key)
    return all.count - 1
  }

  /// The slot of an integer, or the empty one for it (multiplicative hashing: Knuth, The Art of Computer Programming,
  /// volume 3, section 6.4).
  private func slot(of key: Int64) -> Int {
    var slot = Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while slots[slot] >= 0, all[Int(slots[slot])] != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }
}
