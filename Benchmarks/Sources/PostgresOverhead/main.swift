// The costs of the library on PostgreSQL beside libpq, with prepared statements and the binary format.
//
//   [POSTGRES_URL=URL] swift run -c release PostgresOverhead [--rows N] [--many N]
//
// It starts a private server in a temporary folder, or uses the database of a URL, whose schemas persistence_overhead… it
// replaces and removes. The URL may contain a password, so it is no argument, which other users could read. Medians of interleaved rounds. The program fails if a goal is missed.

import Comparing
import Foundation

let arguments = CommandLine.arguments
func option(_ name: String) -> String? {
  arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
}
let rows = option("--rows").flatMap { Int($0) } ?? 100_000
let many = option("--many").flatMap { Int($0) } ?? 1_000_000
let given = ProcessInfo.processInfo.environment["POSTGRES_URL"].flatMap { $0.isEmpty ? nil : $0 }
let server = given == nil ? try Server() : nil
let stores = Stores(url: given ?? server?.url ?? "")
FileHandle.standardError.write(Data("making stores with \(rows) and \(many) movies…\n".utf8))
let measured: Result<[Comparison], any Error> = Result {
  try stores.make(rows: rows, many: many)
  return try Reading(stores, rows: rows).comparisons() + Writing(stores, rows: rows).comparisons()
}
let removed = Result { try stores.remove() }
let comparisons = try measured.get()
try removed.get()
server?.stop()
print("PostgreSQL beside libpq: \(rows) movies; the first ten of \(many)")
for comparison in comparisons { print(comparison) }
if !comparisons.allSatisfy(\.isMet) { exit(1) }
