import PersistenceDriver

/// The keys that the records of a page refer to, each once.
///
/// It knows no types of records: code that is generic at run time would look types up for every key.
struct RelatedKeys {
  /// Each key once.
  let all: [PersistentValue]

  /// The number of each record's key; negative for none.
  private let numbers: [Int]

  /// Finds the number of a key.
  private let index: Index

  private enum Index {
    /// Most keys are integers. Sorting them costs less than hashing.
    case integers([Int64])
    case values([PersistentValue: Int])
  }

  /// Collects the keys that records refer to; null refers to none.
  init(_ values: [PersistentValue]) {
    if let integers = Self.sortedIntegers(values) {
      (all, numbers, index) = (integers.keys.map { .integer($0) }, integers.numbers, .integers(integers.keys))
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

  /// The integers among values that are integers or null, each once and in order, and the number of each value's.
  private static func sortedIntegers(_ values: [PersistentValue]) -> (keys: [Int64], numbers: [Int])? {
    var places: [(key: Int64, position: Int)] = []
    places.reserveCapacity(values.count)
    for (position, value) in values.enumerated() {
      switch value {
      case .integer(let key): places.append((key, position))
      case .null: break
      default: return nil
      }
    }
    places.sort { $0.key < $1.key }
    var keys: [Int64] = []
    var numbers = Array(repeating: -1, count: values.count)
    for (key, position) in places {
      if keys.last != key { keys.append(key) }
      numbers[position] = keys.count - 1
    }
    return (keys, numbers)
  }

  /// Finds the records of the keys among those that were read.
  ///
  /// - Parameter found: The keys of the records that were read.
  /// - Returns: For each record of the page, the place of the record it refers to; negative for none.
  func places(of found: [PersistentValue]) -> [Int] {
    var places = Array(repeating: -1, count: all.count)
    var next = 0
    for (place, key) in found.enumerated() {
      // Contexts return keys in order, so most are where they are expected.
      if next < all.count, all[next] == key {
        places[next] = place
      } else if let number = number(of: key) {
        places[number] = place
        next = number
      }
      next += 1
    }
    return numbers.map { $0 < 0 ? -1 : places[$0] }
  }

  private func number(of key: PersistentValue) -> Int? {
    switch index {
    case .values(let numbers): return numbers[key]
    case .integers(let keys):
      guard case .integer(let key) = key else { return nil }
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low < keys.count && keys[low] == key ? low : nil
    }
  }
}
