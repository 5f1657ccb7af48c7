import DataAccess
import Foundation
import PersistenceCore

// Compares a layered data source with its cache, for single objects and for pages of fifty. Runs are
// interleaved, so that other work disturbs both alike, and the median counts.

struct Entry: PersistentRecord {
  var id: Int
  var title: String
  var rank: Int

  static let schema = RecordSchema<Entry>(
    "Entry", fields: [.field("id", \.id), .field("title", \.title), .field("rank", \.rank)], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int) { (self.id, title, rank) = (id, "Entry number \(id)", id % 20) }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    rank = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(rank, at: 2)
  }
}

struct Contender {
  let name: String
  let repetitions: Int
  let direct: () async throws -> Int
  let layered: () async throws -> Int
}

func nanoseconds(_ repetitions: Int, _ body: () async throws -> Int) async throws -> Double {
  let start = ContinuousClock.now
  var sum = 0
  for _ in 0..<repetitions { sum &+= try await body() }
  precondition(sum > 0, "the lookup found nothing")
  return (ContinuousClock.now - start) / .nanoseconds(1) / Double(repetitions)
}

let count = 1000
let cache = CacheDataSource<Entry>()
let remote = try RepositoryDataSource.inMemory((0..<count).map { Entry($0) })
let local = try RepositoryDataSource<Entry>.inMemory()
var options = LayerOptions<Entry>()
options.strategy = .fastestAvailable
let store = try LayeredDataSource(cache: cache, local: local, remote: remote, options: options)
_ = try await store.filter().result()
let page = store.filter(where: \.rank == 7).options

let contenders = [
  Contender(name: "object by key", repetitions: 20_000) {
    try await cache.find(617)?.id ?? 0
  } layered: {
    try await store.find(617)?.id ?? 0
  },
  Contender(name: "fifty of a thousand", repetitions: 200) {
    try await cache.execute(page).count
  } layered: {
    try await store.execute(page).count
  },
]
for contender in contenders {
  var direct: [Double] = []
  var layered: [Double] = []
  for _ in 0..<15 {
    direct.append(try await nanoseconds(contender.repetitions, contender.direct))
    layered.append(try await nanoseconds(contender.repetitions, contender.layered))
  }
  let (one, other) = (direct.sorted()[7], layered.sorted()[7])
  let ratio = String(format: "%.2f", other / one)
  print("\(contender.name): cache \(Int(one)) ns, layered \(Int(other)) ns, ratio \(ratio)")
}
