// The costs of wide rows: thirty fields, a text key, and a text of 4 KiB; on SQLite beside its C interface and GRDB, on
// LMDB beside SQLite's C interface.
//
//   swift run -c release WideRows [--folder FOLDER]
//
// Medians of interleaved rounds. The program fails if a goal is missed.

import Comparing
import Foundation
import Logging
import PersistenceCore
import PersistenceLMDB
import PersistenceSQLite
import SilentLogging

let (rows, rounds) = (10_000, 21)
let arguments = CommandLine.arguments
let base = arguments.firstIndex(of: "--folder").map { arguments[$0 + 1] } ?? NSTemporaryDirectory()
let folder = base + "/wide-rows-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

let products = (0..<rows).map { Product(number: $0) }
let sorted = products.sorted { $0.sku.utf8.lexicographicallyPrecedes($1.sku.utf8) }
let listed = sorted.map { Listed(sku: $0.sku, price: $0.price, isActive: $0.isActive) }
let keys = (0..<2_000).map { Product.sku($0 * 7919 % rows) }
let price = 62_500.0
let expensive = products.count { $0.price >= price }

let raw = try RawSQLite(folder + "/raw.sqlite")
let grdb = try GRDBStore(folder + "/grdb.sqlite")
let monitoring = Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() })
let stores = try ["sqlite:\(folder)/own.sqlite", "lmdb:\(folder)/own"].map {
  try Repository(opening: $0, engines: [.sqlite, .lmdb], monitoring: monitoring)
}
try raw.save(products)
try grdb.save(products)
for store in stores { try store.save(contentsOf: products) }

func require(_ isRight: Bool, _ what: String) throws {
  guard isRight else { throw Failure("\(what) is wrong") }
}

/// The time of some work, whose result is checked afterwards.
func timed<Result: Equatable>(_ expected: Result, _ what: String, _ work: () throws -> Result) throws
  -> Double
{
  var result: Result?
  let time = try seconds { result = try work() }
  try require(result == expected, what)
  return time
}

var comparisons: [Comparison] = []

/// Compares the stores with the C interface, and the first with GRDB.
@MainActor func compare<Result: Equatable>(
  _ name: String, _ expected: Result, goals: (sqlite: Double, lmdb: Double), raw: () throws -> Result,
  grdb: () throws -> Result, library: (Repository) throws -> Result
) throws {
  for (engine, store, goal) in zip3(["SQLite", "LMDB"], stores, [goals.sqlite, goals.lmdb]) {
    comparisons.append(
      try Comparison("\(name), \(engine)", beside: "SQLite's C interface", .ratio(goal), rounds: rounds) {
        try timed(expected, name, raw)
      } library: {
        try timed(expected, name) { try library(store) }
      })
  }
  comparisons.append(
    try Comparison("\(name), SQLite", beside: "GRDB", .ratio(1), rounds: rounds) {
      try timed(expected, name, grdb)
    } library: {
      try timed(expected, name) { try library(stores[0]) }
    })
}

func zip3<First, Second, Third>(_ first: [First], _ second: [Second], _ third: [Third]) -> [(
  First, Second, Third
)] {
  zip(first, zip(second, third)).map { ($0, $1.0, $1.1) }
}

try compare("fetch all", sorted, goals: (1.1, 1.1)) {
  try raw.all()
} grdb: {
  try grdb.all()
} library: {
  Array(try $0.filter(Product.self).result())
}
try compare("get by key", keys.count, goals: (1.1, 1.1)) {
  try keys.count { try raw.find($0) != nil }
} grdb: {
  try grdb.find(keys)
} library: { store in
  try keys.count { try store.find(Product.self, id: $0) != nil }
}
try compare("three of thirty fields", listed, goals: (1.1, 1.1)) {
  try raw.listed()
} grdb: {
  try grdb.listed()
} library: {
  var found: [Listed] = []
  for (sku, price, isActive) in try $0.filter(Product.self).select(\.sku, \.price, \.isActive) {
    found.append(Listed(sku: sku, price: price, isActive: isActive))
  }
  return found
}
try compare("count by a field behind the text", expensive, goals: (1.1, 1.1)) {
  try raw.count(priceFrom: price)
} grdb: {
  try grdb.count(priceFrom: price)
} library: {
  try $0.filter(Product.self, where: \.price >= price).count()
}
let some = Array(products.prefix(1_000))
try compare("save 1,000 in one transaction", rows, goals: (1.25, 1.4)) {
  try raw.save(some)
  return rows
} grdb: {
  try grdb.save(some)
  return rows
} library: {
  try $0.save(contentsOf: some)
  return rows
}
try require(raw.all() == sorted, "what is stored")
print("Wide rows: \(rows) of 30 fields, 4 KiB of text in each")
for comparison in comparisons { print(comparison) }
if !comparisons.allSatisfy(\.isMet) { exit(1) }
