import Foundation
import PersistenceCore

/// The checks of a request's typed collection: iteration from both ends and in parts, and pages.
struct FuzzCollection {
  private static let labels = (
    rows: "collection", count: "count of the collection", reversed: "reversed", prefix: "prefix",
    suffix: "suffix", slice: "slice", last: "last", first: "first of the query", pages: "pages by token",
    foreign: "token of another query"
  )

  let query: FuzzQuery
  let pageSize: Int
  let part: Range<Int>

  /// Reads a store through the library's collections.
  func look(at storage: any StorageContext, _ path: [Int], _ outcomes: inout [FuzzOutcome]) throws {
    let typed = typedQuery(Repository(storage), query.predicate)
    let bounded = query.limit.map { typed.limit($0) } ?? typed
    let labels = Self.labels
    func add(_ label: String, _ records: some Sequence<FuzzRecord>) {
      outcomes.append(FuzzOutcome(path, label, .rows(records.map(\.values))))
    }
    let results = try bounded.offset(query.offset).result()
    var all: [FuzzRecord] = []
    // Uses the throwing route, because the collection's own methods would stop the program.
    try results.forEach { all.append($0) }
    add(labels.rows, all)
    outcomes.append(FuzzOutcome(path, labels.count, .number(results.count)))
    add(labels.reversed, results.reversed())
    add(labels.prefix, results.prefix(part.upperBound))
    add(labels.suffix, results.suffix(part.count))
    add(labels.slice, results.dropFirst(part.lowerBound).prefix(part.count))
    add(labels.last, results.last.map { [$0] } ?? [])
    add(labels.first, try bounded.offset(query.offset).first().map { [$0] } ?? [])
    try lookAtPages(of: typed, storage, path, &outcomes)
  }

  /// Reads page by page with tokens that were encoded as text, and uses one with another query.
  private func lookAtPages(
    of typed: Query<FuzzRecord>, _ storage: any StorageContext, _ path: [Int], _ outcomes: inout [FuzzOutcome]
  ) throws {
    var page = try typed.offset(query.offset).limit(pageSize).page()
    let token = page.next
    var rows = page.models
    while let next = page.next, rows.count <= FuzzSubject.endless {
      let read = try JSONDecoder().decode([PageToken].self, from: JSONEncoder().encode([next]))
      page = try typed.limit(pageSize).after(read[0]).page()
      rows += page.models
    }
    outcomes.append(FuzzOutcome(path, Self.labels.pages, .rows(rows.map(\.values))))
    guard let token else { return }
    let other = typedQuery(Repository(storage), .not(query.predicate ?? .constant(true)))
    do {
      let found = try other.limit(pageSize).after(token).page()
      outcomes.append(FuzzOutcome(path, Self.labels.foreign, .rows(found.models.map(\.values))))
    } catch let error as PersistenceError {
      outcomes.append(FuzzOutcome(path, Self.labels.foreign, .code(error.code.rawValue)))
    }
  }

  private func typedQuery(_ repository: any PersistentRepository, _ predicate: PredicateNode?) -> Query<
    FuzzRecord
  > {
    let query = repository.filter(
      FuzzRecord.self, where: predicate.map { PersistentPredicate(node: $0) } ?? .all)
    return self.query.order.reduce(query) { $0.sorted(by: SortCriterion(fieldOrder: $1)) }
  }

  /// Returns the expected outcomes, by the reference model.
  func look(at reference: FuzzReference, _ path: [Int], _ outcomes: inout [FuzzOutcome]) throws {
    let schemas = [try FuzzRecord.schema.model]
    var asked = query
    asked.model = 0
    asked.after = nil
    _ = try reference.check(asked, schemas)
    // A change of the schema may have left what the typed model can be mapped to (contract S1).
    let reference = try reference.seen(by: schemas[0], FuzzWords())
    let rows = try reference.rows(asked, schemas)
    let labels = Self.labels
    outcomes.append(FuzzOutcome(path, labels.rows, .rows(rows)))
    outcomes.append(FuzzOutcome(path, labels.count, .number(rows.count)))
    for (label, part) in [
      (labels.reversed, Array(rows.reversed())), (labels.prefix, Array(rows.prefix(part.upperBound))),
      (labels.suffix, Array(rows.suffix(part.count))),
      (labels.slice, Array(rows.dropFirst(part.lowerBound).prefix(part.count))),
      (labels.last, Array(rows.suffix(1))), (labels.first, Array(rows.prefix(1))),
    ] {
      outcomes.append(FuzzOutcome(path, label, .rows(part)))
    }
    asked.limit = nil
    let paged = try reference.rows(asked, schemas)
    outcomes.append(FuzzOutcome(path, labels.pages, .rows(paged)))
    if paged.count > pageSize {
      outcomes.append(FuzzOutcome(path, labels.foreign, .code(PersistenceError.Code.invalidRequest.rawValue)))
    }
  }
}
