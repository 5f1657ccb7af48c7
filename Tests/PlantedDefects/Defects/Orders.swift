import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// O2, O3: wrong orders.
  static let orders: [PlantedDefect] = [
    comparing("nil sorts last", .o3) { left, right, criterion in
      guard left.isNull != right.isNull else { return nil }
      return left.isNull == criterion.isDescending ? -1 : 1
    },
    comparing("nil sorts first in descending order too", .o3) { left, right, _ in
      guard left.isNull != right.isNull else { return nil }
      return left.isNull ? -1 : 1
    },
    comparing("text sorts by UTF-16", .v3, .o2) { left, right, criterion in
      guard case .text(let first) = left, case .text(let second) = right else { return nil }
      let isLess = first.utf16.lexicographicallyPrecedes(second.utf16)
      let isEqual = first.utf16.elementsEqual(second.utf16)
      return isEqual ? 0 : (isLess != criterion.isDescending ? -1 : 1)
    },
    comparing("text sorts case-insensitively", .v3, .o2) { left, right, criterion in
      guard case .text(let first) = left, case .text(let second) = right else { return nil }
      return RowByRow.compare(.text(first.lowercased()), .text(second.lowercased()), criterion)
    },
    comparing("UUIDs sort by signed bytes", .v4a) { left, right, criterion in
      guard case .uuid(let first) = left, case .uuid(let second) = right else { return nil }
      func signed(_ id: UUID) -> PersistentValue {
        .bytes(withUnsafeBytes(of: id.uuid) { $0.map { $0 ^ 0x80 } })
      }
      return RowByRow.compare(signed(first), signed(second), criterion)
    },
    comparing("decimals sort as text", .v4a) { left, right, criterion in
      guard case .decimal(let first) = left, case .decimal(let second) = right, first != second
      else { return nil }
      return RowByRow.compare(.text("\(first)"), .text("\(second)"), criterion)
    },
    comparing("data sorts by length first", .v4a) { left, right, criterion in
      guard case .bytes(let first) = left, case .bytes(let second) = right, first.count != second.count
      else { return nil }
      return RowByRow.compare(.integer(Int64(first.count)), .integer(Int64(second.count)), criterion)
    },
    comparing("integers sort as text", .o2) { left, right, criterion in
      guard case .integer(let first) = left, case .integer(let second) = right else { return nil }
      return RowByRow.compare(.text("\(first)"), .text("\(second)"), criterion)
    },
    ordering("ties of a descending order are ascending", .o2) { request in
      let extra = request.totalOrder.dropFirst(request.order.count)
      return request.order + extra.map { FieldOrder($0.field) }
    },
    ordering("the second criterion is ignored", .o2) { request in
      guard request.order.count > 1 else { return request.totalOrder }
      return [request.totalOrder[0]] + request.totalOrder.dropFirst(request.order.count)
    },
    PlantedDefect("ties have a random order", .o2) { flaw in
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

  /// O4: wrong pages.
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
    PlantedDefect("the anchor's row is repeated on the next page", .o4) { flaw in
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
    PlantedDefect("the anchor skips ties", .o4) { flaw in
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
