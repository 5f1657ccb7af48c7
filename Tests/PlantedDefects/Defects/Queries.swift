import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// V3, V4, V6: conditions that are decided wrongly.
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
    deciding("text is compared without regard to case", .v3) { node, value in
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
    deciding("between leaves its upper bound out", .v6) { node, value in
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

  /// V7: text that is found wrongly.
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
    rewriting("like never minds case", .v7) { node in
      guard case .text(let field, .like, let pattern, _) = node else { return node }
      return .text(field: field, .like, pattern, isCaseInsensitive: true)
    },
    rewriting("contains begins at the beginning", .v7) { node in
      guard case .text(let field, .contains, let needle, let isCaseInsensitive) = node else { return node }
      return .text(field: field, .hasPrefix, needle, isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("matches has to match the whole text", .v7) { node in
      guard case .text(let field, .matches, let pattern, let isCaseInsensitive) = node else { return node }
      return .text(field: field, .matches, "^(?:\(pattern))$", isCaseInsensitive: isCaseInsensitive)
    },
    rewriting("a search minds case, whatever was asked", .v7) { node in
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

  /// O2, O3: rows in a wrong order.
  static let orders: [PlantedDefect] = [
    comparing("nil comes last", .o3) { left, right, criterion in
      guard left.isNull != right.isNull else { return nil }
      return left.isNull == criterion.isDescending ? -1 : 1
    },
    comparing("nil comes first, also in descending order", .o3) { left, right, _ in
      guard left.isNull != right.isNull else { return nil }
      return left.isNull ? -1 : 1
    },
    comparing("text is ordered by UTF-16", .v3, .o2) { left, right, criterion in
      guard case .text(let first) = left, case .text(let second) = right else { return nil }
      let isLess = first.utf16.lexicographicallyPrecedes(second.utf16)
      let isEqual = first.utf16.elementsEqual(second.utf16)
      return isEqual ? 0 : (isLess != criterion.isDescending ? -1 : 1)
    },
    comparing("text is ordered without regard to case", .v3, .o2) { left, right, criterion in
      guard case .text(let first) = left, case .text(let second) = right else { return nil }
      return RowByRow.compare(.text(first.lowercased()), .text(second.lowercased()), criterion)
    },
    comparing("UUIDs are ordered by signed bytes", .v4a) { left, right, criterion in
      guard case .uuid(let first) = left, case .uuid(let second) = right else { return nil }
      func signed(_ id: UUID) -> PersistentValue {
        .bytes(withUnsafeBytes(of: id.uuid) { $0.map { $0 ^ 0x80 } })
      }
      return RowByRow.compare(signed(first), signed(second), criterion)
    },
    comparing("decimals are ordered as text", .v4a) { left, right, criterion in
      guard case .decimal(let first) = left, case .decimal(let second) = right, first != second
      else { return nil }
      return RowByRow.compare(.text("\(first)"), .text("\(second)"), criterion)
    },
    comparing("data is ordered by length first", .v4a) { left, right, criterion in
      guard case .bytes(let first) = left, case .bytes(let second) = right, first.count != second.count
      else { return nil }
      return RowByRow.compare(.integer(Int64(first.count)), .integer(Int64(second.count)), criterion)
    },
    comparing("integers are ordered as text", .o2) { left, right, criterion in
      guard case .integer(let first) = left, case .integer(let second) = right else { return nil }
      return RowByRow.compare(.text("\(first)"), .text("\(second)"), criterion)
    },
    ordering("the ties of a descending order ascend", .o2) { request in
      let extra = request.totalOrder.dropFirst(request.order.count)
      return request.order + extra.map { FieldOrder($0.field) }
    },
    ordering("the second criterion is ignored", .o2) { request in
      guard request.order.count > 1 else { return request.totalOrder }
      return [request.totalOrder[0]] + request.totalOrder.dropFirst(request.order.count)
    },
    PlantedDefect("ties come in any order", .o2) { flaw in
      flaw.results = { results, request in
        guard !request.order.isEmpty else { return results }
        let positions = request.order.compactMap { request.schema.position(of: $0.field) }
        var rows = try results.rows()
        for index in rows.indices.dropFirst()
        where positions.allSatisfy({ rows[index][$0] == rows[index - 1][$0] }) && Bool.random() {
          rows.swapAt(index, index - 1)
        }
        return RowList(rows)
      }
    },
  ]

  /// O4: pages that are cut wrongly.
  static let pages: [PlantedDefect] = [
    PlantedDefect("offset is ignored", .o4) { flaw in
      flaw.request = { try $0.with { $0.offset = 0 } }
    },
    PlantedDefect("limit 0 means all", .o4) { flaw in
      flaw.request = { request in
        try request.with { if $0.limit == 0 { $0.limit = nil } }
      }
    },
    PlantedDefect("count ignores limit", .o4) { flaw in
      flaw.count = { request, reader in try reader.count(request.with { $0.limit = nil }) }
    },
    PlantedDefect("count ignores offset", .o4) { flaw in
      flaw.count = { request, reader in try reader.count(request.with { $0.offset = 0 }) }
    },
    PlantedDefect("limit is applied before the filter", .o4) { flaw in
      flaw.fetch = { request, reader in
        guard let limit = request.limit, let predicate = request.predicate else {
          return try reader.fetch(request)
        }
        let test = try CompiledPredicate(predicate, in: request.schema)
        let rows = try reader.rows(request.with { $0.predicate = nil })
        return RowList(try rows.prefix(limit).filter { try $0.withRow { try test.matches($0) } })
      }
    },
    PlantedDefect("limit is applied before the sort", .o4) { flaw in
      flaw.fetch = { request, reader in
        guard !request.order.isEmpty, request.limit != nil, request.after == nil else {
          return try reader.fetch(request)
        }
        let order = try RowOrder(request.totalOrder, in: request.schema)
        let rows = try reader.rows(request.with { $0.order = [] })
        return RowList(
          try rows.map { ($0, try $0.withRow { try order.key(of: $0) }) }
            .sorted { order.compare($0.1, $1.1) < 0 }.map(\.0))
      }
    },
    PlantedDefect("the row of the anchor is on the next page too", .o4) { flaw in
      flaw.fetch = { request, reader in
        guard let after = request.after else { return try reader.fetch(request) }
        let order = try RowOrder(request.totalOrder, in: request.schema)
        let rows = try reader.rows(
          request.with {
            $0.after = nil
            $0.limit = nil
            $0.offset = 0
          })
        let following = try rows.filter { row in
          order.compare(try row.withRow { try order.key(of: $0) }, after.values) >= 0
        }
        return RowList(following.dropFirst(request.offset).prefix(request.limit ?? .max))
      }
    },
    PlantedDefect("the anchor passes over ties", .o4) { flaw in
      flaw.fetch = { request, reader in
        guard let after = request.after, !request.order.isEmpty else { return try reader.fetch(request) }
        let position = request.schema.position(of: request.totalOrder[0].field) ?? 0
        let rows = try reader.rows(request).filter { $0[position] != after.values[0] }
        return RowList(rows)
      }
    },
    PlantedDefect("a page loses its last row", .o4, .r3) { flaw in
      flaw.results = { results, request in
        guard let limit = request.limit, limit > 1 else { return results }
        return RowList(try results.rows().prefix(limit - 1))
      }
    },
  ]

  /// Decides comparisons of text by another order than that of its bytes.
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

  private static func deciding(
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

  private static func rewriting(
    _ name: String, _ rules: ContractRule..., leaf: @escaping @Sendable (PredicateNode) -> PredicateNode
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules) { flaw in flaw.request = { try $0.mappingLeaves(leaf) } }
  }

  private static func comparing(
    _ name: String, _ rules: ContractRule...,
    values compare: @escaping @Sendable (PersistentValue, PersistentValue, FieldOrder) -> Int?
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules) { flaw in
      let answering = RowByRow(compare: { compare($0, $1, $2) ?? RowByRow.compare($0, $1, $2) })
      flaw.fetch = { try answering.answer($0, $1) }
    }
  }

  private static func ordering(
    _ name: String, _ rules: ContractRule..., criteria: @escaping @Sendable (FetchRequest) -> [FieldOrder]
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules) { flaw in
      let answering = RowByRow(order: criteria)
      flaw.fetch = { try answering.answer($0, $1) }
    }
  }
}
