import Foundation
import PersistenceCore

/// Conditions on parts of documents.
extension FuzzDocument {
  /// The condition as a closure; nil if it is invalid.
  static func condition(_ condition: DocumentCondition) -> ((FuzzDocument) -> Bool)? {
    switch condition {
    case .comparison(let comparison, let operand):
      guard let value = self.operand(operand) else { return nil }
      return { $0.holds(comparison, value) }
    case .contains(let operand):
      guard let value = self.operand(operand) else { return nil }
      return { part in
        if case .array(let elements) = part { elements.contains { $0.isSame(as: value) } } else { false }
      }
    case .text(let search, let needle, let isCaseInsensitive):
      guard let search = FuzzText.search(search, needle, isCaseInsensitive: isCaseInsensitive) else {
        return nil
      }
      return { if case .text(let text) = $0 { search(text) } else { false } }
    }
  }

  private static func operand(_ value: PersistentValue) -> FuzzDocument? {
    switch value {
    case .null: .null
    case .document(let text): FuzzDocument(text)
    default: nil
    }
  }

  private func holds(_ comparison: ComparisonOperator, _ operand: FuzzDocument) -> Bool {
    switch comparison {
    case .equal: isSame(as: operand)
    case .notEqual: !isSame(as: operand)
    default: order(operand).map { comparison.holds($0) } ?? false
    }
  }

  private func isSame(as other: FuzzDocument) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.truth(let left), .truth(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.text(let left), .text(let right)): FuzzValue.isSameName(left, right)
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case (.object(let left), .object(let right)):
      left.count == right.count
        && left.allSatisfy { member in
          right.contains { FuzzValue.isSameName($0.name, member.name) && $0.value.isSame(as: member.value) }
        }
    default: false
    }
  }

  /// The order of two values: below, equal to or above 0; nil if they have none.
  private func order(_ other: FuzzDocument) -> Int? {
    switch (self, other) {
    case (.truth(let left), .truth(let right)): (left ? 1 : 0) - (right ? 1 : 0)
    case (.number(let left), .number(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.text(let left), .text(let right)):
      FuzzValue.isSameName(left, right) ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    case (.text(let text), .number): Self.rank(text)
    case (.number, .text(let text)): Self.rank(text).map { -$0 }
    default: nil
    }
  }

  private static func rank(_ text: String) -> Int? { ["-Infinity": -1, "Infinity": 1, "NaN": 1][text] }
}
