import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// V3, V4, V6: wrong comparisons.
  static let comparisons: [PlantedDefect] = [
    deciding("NaN is not equal to itself", .v4) { node, value in
      guard case .comparison(let field, let comparison, .double(let operand)) = node,
        case .double(let stored) = value(field), operand.isNaN || stored.isNaN
      else { return .right }
      return .truth(comparison == .notEqual)
    },
    deciding("text is compared by canonical equivalence", .v3) { node, value in
      collated(node, value) { left, right in left == right ? 0 : (left < right ? -1 : 1) }
    },
    deciding("text is compared case-insensitively", .v3) { node, value in
      collated(node, value) { PersistentValue.compare(.text($0.lowercased()), .text($1.lowercased())) }
    },
    deciding("a comparison with nil is UNKNOWN", .v6) { node, value in
      guard case .comparison(let field, _, let operand) = node, !operand.isNull, value(field).isNull
      else { return .right }
      return .unknown
    },
    deciding("nil is less than every value", .v6) { node, value in
      guard case .comparison(let field, let comparison, let operand) = node, !operand.isNull,
        value(field).isNull, comparison == .less || comparison == .lessOrEqual
      else { return .right }
      return .truth(true)
    },
    deciding("nil fields are not equal to each other", .v6) { node, value in
      guard case .fieldComparison(let left, .equal, let right) = node, value(left).isNull,
        value(right).isNull
      else { return .right }
      return .truth(false)
    },
    deciding("between excludes its upper bound", .v6) { node, value in
      guard case .isBetween(let field, _, let upper) = node, value(field) == upper else { return .right }
      return .truth(false)
    },
    deciding("a search in nil is UNKNOWN", .v6, .v7) { node, value in
      guard case .text(let field, _, _, _) = node, value(field).isNull else { return .right }
      return .unknown
    },
    deciding("membership in an empty list is true", .v6) { node, value in
      guard case .isIn(_, let values) = node, values.isEmpty else { return .right }
      return .truth(true)
    },
  ]

  /// V7: wrong text searches.
  static let searches: [PlantedDefect] = [
    rewriting("contains takes % as a wildcard", .v7) { node in
      guard case .text(let field, .contains, let needle, let isCaseInsensitive) = node,
        needle.contains("%"), !needle.contains("\\")
      else { return node }
      return .text(
        field: field, .like, "%" + needle.replacing("_", with: "\\_") + "%",
        isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("hasPrefix takes _ as a wildcard", .v7) { node in
      guard case .text(let field, .hasPrefix, let needle, let isCaseInsensitive) = node,
        needle.contains("_"), !needle.contains("\\")
      else { return node }
      return .text(
        field: field, .like, needle.replacing("%", with: "\\%") + "%", isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("like ignores its escape", .v7) { node in
      guard case .text(let field, .like, let pattern, let isCaseInsensitive) = node else { return node }
      return .text(
        field: field, .like, pattern.replacing("\\", with: "\\\\"), isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("like is always case-insensitive", .v7) { node in
      guard case .text(let field, .like, let pattern, _) = node else { return node }
      return .text(field: field, .like, pattern, isCaseInsensitive: true)
    },
    rewriting("contains matches only at the start", .v7) { node in
      guard case .text(let field, .contains, let needle, let isCaseInsensitive) = node else { return node }
      return .text(field: field, .hasPrefix, needle, isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("matches must match the whole text", .v7) { node in
      guard case .text(let field, .matches, let pattern, let isCaseInsensitive) = node else { return node }
      return .text(field: field, .matches, "^(?:\(pattern))$", isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("every search is case-sensitive", .v7) { node in
      guard case .text(let field, let search, let needle, _) = node else { return node }
      return .text(field: field, search, needle, isCaseInsensitive: false)
    },
    deciding("case is folded in ASCII only", .v7) { node, value in
      guard case .text(let field, let search, let needle, isCaseInsensitive: true) = node,
        case .text(let stored) = value(field)
      else { return .right }
      func folded(_ text: String) -> String {
        String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
      }
      let matcher = try TextMatcher(search, folded(needle), isCaseInsensitive: false)
      return .truth(try Array(folded(stored).utf8).withUnsafeBufferPointer { try matcher.matches($0) })
    },
    deciding("a search compares characters, not scalars", .v7) { node, value in
      guard case .text(let field, let search, let needle, isCaseInsensitive: false) = node,
        case .text(let stored) = value(field), !needle.isEmpty
      else { return .right }
      return switch search {
      case .contains: .truth(stored.contains(needle))
      case .hasPrefix: .truth(stored.hasPrefix(needle))
      case .hasSuffix: .truth(stored.hasSuffix(needle))
      default: .right
      }
    },
  ]

  /// Compares text by another order than that of its bytes.
  private static func collated(
    _ node: PredicateNode, _ value: (String) -> PersistentValue, by compare: (String, String) -> Int
  ) -> RowByRow.Decision {
    if case .isIn(let field, let values) = node, case .text(let stored) = value(field) {
      return .truth(
        values.contains { if case .text(let text) = $0 { compare(stored, text) == 0 } else { false } })
    }
    guard case .comparison(let field, let comparison, .text(let operand)) = node,
      case .text(let stored) = value(field)
    else { return .right }
    let order = compare(stored, operand)
    return switch comparison {
    case .equal: .truth(order == 0)
    case .notEqual: .truth(order != 0)
    case .less: .truth(order < 0)
    case .lessOrEqual: .truth(order <= 0)
    case .greater: .truth(order > 0)
    case .greaterOrEqual: .truth(order >= 0)
    }
  }

  static func deciding(
    _ name: String, _ rules: ContractRule...,
    leaf: @escaping @Sendable (PredicateNode, (String) -> PersistentValue) throws -> RowByRow.Decision
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules) { flaw in
      let answering = RowByRow(leaf: leaf)
      flaw.fetch = { request, reader in
        guard request.predicate != nil else { return try reader.fetch(request) }
        return try answering.answer(request, reader)
      }
    }
  }

  static func rewriting(
    _ name: String, _ rules: ContractRule..., leaf: @escaping @Sendable (PredicateNode) -> PredicateNode
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules) { flaw in flaw.request = { try $0.mappingLeaves(leaf) } }
  }
}
