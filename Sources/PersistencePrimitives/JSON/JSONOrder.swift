/// Equality and order of JSON values (contract V8).
package enum JSONOrder {
  /// Whether two values are equal: numbers by value, texts by their bytes, members by their names.
  package static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): compare(numbers: left, right) == 0
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left.elementsEqual(right, by: areEqual)
    case (.object(let left), .object(let right)):
      left.count == right.count
        && left.allSatisfy { member in
          (.object(right) as JSONValue).member(member.name).map { areEqual(member.value, $0) } ?? false
        }
    default: false
    }
  }

  /// Compares two values: negative, zero or positive; nil if they have no order.
  ///
  /// The texts that documents store for NaN and the infinities are ordered among the numbers.
  package static func order(_ left: JSONValue, _ right: JSONValue) -> Int? {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
    case (.number(let left), .number(let right)): compare(numbers: left, right)
    case (.string(let left), .string(let right)): compare(texts: left, right)
    case (.number, .string(let text)): rank(ofSpecial: text).map { -$0 }
    case (.string(let text), .number): rank(ofSpecial: text)
    default: nil
    }
  }

  /// Whether a special number is less or greater than every other number; nil for any other text.
  private static func rank(ofSpecial text: String) -> Int? {
    switch text {
    case "-Infinity": -1
    case "Infinity", "NaN": 1
    default: nil
    }
  }

  private static func compare(texts left: String, _ right: String) -> Int {
    left.utf8.elementsEqual(right.utf8) ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
  }

  private static func compare(numbers left: String, _ right: String) -> Int {
    if let left = Int64(left), let right = Int64(right) { return left < right ? -1 : left == right ? 0 : 1 }
    guard let first = ExactNumber(left), let second = ExactNumber(right) else {
      return compare(texts: left, right)
    }
    return first.compare(with: second)
  }
}

extension JSONValue {
  /// Whether the value is `null`.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension ExactNumber {
  /// Compares two numbers: negative, zero or positive.
  fileprivate func compare(with other: ExactNumber) -> Int {
    let (sign, otherSign) = (self.sign, other.sign)
    if sign != otherSign { return sign < otherSign ? -1 : 1 }
    return sign * compareMagnitude(with: other)
  }

  private var sign: Int { isZero ? 0 : isNegative ? -1 : 1 }

  private func compareMagnitude(with other: ExactNumber) -> Int {
    // The power of ten of the first digit decides, then the digits, which have no zeros at the end.
    let (power, otherPower) = (digits.count + exponent, other.digits.count + other.exponent)
    if power != otherPower { return power < otherPower ? -1 : 1 }
    if digits == other.digits { return 0 }
    return digits.lexicographicallyPrecedes(other.digits) ? -1 : 1
  }
}
