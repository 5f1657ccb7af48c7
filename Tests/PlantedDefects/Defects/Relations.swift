import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// L1, L2: requests with lists of keys, of which what keeps references consists.
  static let relations: [PlantedDefect] = [
    rewritingLists("a list of keys ends after five hundred", .l1) { Array($0.prefix(500)) }
      .caught(by: "many references in one transaction are all checked"),
    PlantedDefect("a deletion by a list of keys deletes a hundred records", .l2, isSemantic: false) { flaw in
      flaw.deleteRows = { request, transaction in
        guard case .isIn? = request.predicate else { return try transaction.wrapped.delete(request) }
        return try transaction.wrapped.delete(request.with { $0.limit = min($0.limit ?? 100, 100) })
      }
    }.caught(by: "a cascade of many records at several levels is complete"),
    PlantedDefect("an update by a list of keys is not made", .l2, isSemantic: false) { flaw in
      flaw.updateRows = { request, transaction in
        guard case .isIn? = request.rows.predicate else { return try transaction.wrapped.update(request) }
        return try transaction.wrapped.count(request.rows)
      }
    }.caught(by: "references that become nil do so before the call returns, and leave their index"),
  ]

  private static func rewritingLists(
    _ name: String, _ rules: ContractRule...,
    change: @escaping @Sendable ([PersistentValue]) -> [PersistentValue]
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules, isSemantic: false) { flaw in
      flaw.request = {
        try $0.mappingLeaves { node in
          guard case .isIn(let field, let values) = node else { return node }
          return .isIn(field: field, change(values))
        }
      }
    }
  }
}
