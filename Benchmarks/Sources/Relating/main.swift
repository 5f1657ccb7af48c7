// The costs of relations on SQLite, beside joins and foreign keys in SQLite's C interface, and beside GRDB.
//
//   swift run -c release Relating [--folder FOLDER] [--pages SIZE]
//
// Medians of interleaved rounds. The program fails if a goal is missed.

import Comparing
import Foundation
import Logging
import PersistenceCore
import PersistenceSQLite
import SilentLogging

let (studios, films, rounds) = (1_000, 100_000, 31)
let arguments = CommandLine.arguments
let base = arguments.firstIndex(of: "--folder").map { arguments[$0 + 1] } ?? NSTemporaryDirectory()
let folder = base + "/relating-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

/// The same records in the library's store and in a database for the other contenders.
struct Stores {
  let raw: RawSQLite
  let library: Repository
  let grdb: GRDBStore

  init(_ name: String, film: (Int) -> Film) throws {
    let raw = try RawSQLite(folder + "/\(name)-raw.sqlite")
    let library = try Repository(
      opening: "sqlite:\(folder)/\(name).sqlite", engines: [.sqlite],
      monitoring: Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() }))
    try raw.insertStudios(0..<studios)
    try raw.insertFilms(0..<films, film)
    try library.save(contentsOf: (0..<studios).lazy.map { Studio(number: $0) })
    for start in stride(from: 0, to: films, by: 10_000) {
      try library.save(contentsOf: (start..<start + 10_000).map(film))
    }
    (self.raw, self.library, grdb) = (raw, library, try GRDBStore(folder + "/\(name)-raw.sqlite"))
  }
}

/// A page of films has as many studios as films, so each included record is read once.
let distinct = try Stores("distinct") { Film(number: $0, studios: studios) }
/// Few studios make most films.
let ranked = try Stores("ranked") { Film(number: $0, ranked: studios) }
let (raw, library, grdb) = (distinct.raw, distinct.library, distinct.grdb)

func require(_ isRight: Bool, _ what: String) throws {
  guard isRight else { throw Failure("\(what) is wrong") }
}

/// Reads pages that are spread over the films, and checks the studio of each film.
func pages<Pair>(
  of size: Int, _ page: (Int) throws -> [Pair], studio: (Pair) -> (referred: Int, read: Int)
) throws -> Double {
  let count = max(10, 20_000 / size)
  var read = 0
  let time = try seconds {
    for number in 0..<count {
      let found = try page(number * 7919 % (films - size - 1))
      for pair in found {
        let (referred, read) = studio(pair)
        try require(referred == read, "an included studio")
      }
      read += found.count
    }
  }
  try require(read == count * size, "the number of films of pages")
  return time
}

func ownPages(of size: Int, _ stores: Stores) throws -> Double {
  try pages(of: size) { id in
    var found: [(Film, Studio)] = []
    found.reserveCapacity(size)
    for pair in try stores.library.filter(Film.self, where: \.id > id).limit(size).including(\.studio)
      .result()
    {
      found.append(pair)
    }
    return found
  } studio: {
    ($0.0.studio.key, $0.1.id)
  }
}

// For a profiler: pages only.
if let size = arguments.firstIndex(of: "--pages").map({ Int(arguments[$0 + 1]) ?? 100 }) {
  for _ in 0..<300 { _ = try ownPages(of: size, ranked) }
  exit(0)
}

var comparisons: [Comparison] = []
for (name, stores, goals) in [("ranked", ranked, [1.6, 1.1]), ("distinct", distinct, [2.5, 2.5])] {
  for (size, goal) in zip([100, 1_000], goals) {
    comparisons.append(
      try Comparison(
        "pages of \(size), \(name)", beside: "LEFT JOIN", .ratio(goal), rounds: rounds
      ) {
        try pages(of: size) {
          try stores.raw.page(after: $0, size: size)
        } studio: {
          ($0.0.studio.key, $0.1.id)
        }
      } library: {
        try ownPages(of: size, stores)
      })
    comparisons.append(
      try Comparison("the same", beside: "GRDB including(required:)", .ratio(1), rounds: rounds) {
        try pages(of: size) {
          try stores.grdb.page(after: $0, size: size)
        } studio: {
          ($0.film.studioId, $0.studio.id)
        }
      } library: {
        try ownPages(of: size, stores)
      })
  }
}
func ownLists() throws -> Double {
  var (count, sum) = (0, 0)
  let time = try seconds {
    for (_, films) in try library.filter(Studio.self, where: \.id <= 99).including(all: \Film.studio).result()
    {
      count += 1
      sum += films.count
    }
  }
  try require(count == 100 && sum == films / 10, "the films of studios")
  return time
}
comparisons.append(
  try Comparison("100 studios with 100 films each", beside: "two queries", .ratio(1.6), rounds: rounds) {
    try seconds { try require(raw.studios(upTo: 99).count == 100, "the number of studios") }
  } library: {
    try ownLists()
  })
comparisons.append(
  try Comparison("the same", beside: "GRDB including(all:)", .ratio(1), rounds: rounds) {
    try seconds { try require(grdb.studios(upTo: 99).count == 100, "the number of studios") }
  } library: {
    try ownLists()
  })
comparisons.append(
  try Comparison("has, 1,000 of 100,000 films", beside: "EXISTS", .ratio(1.3), rounds: rounds) {
    try seconds {
      for country in 0..<10 {
        try require(raw.films(country: country).count == films / 100, "the number of films")
      }
    }
  } library: {
    try seconds {
      for country in 0..<10 {
        let found = Array(try library.filter(Film.self, where: .has(\.studio, \.country == country)).result())
        try require(found.count == films / 100, "the number of films")
      }
    }
  })
var (next, ownNext) = (films, films)
comparisons.append(
  try Comparison("insert 20,000 films, checked", beside: "deferred foreign keys", .ratio(1.2), rounds: rounds)
  {
    defer { next += 20_000 }
    return try seconds { try raw.insertFilms(next..<next + 20_000) { Film(number: $0, studios: studios) } }
  } library: {
    defer { ownNext += 20_000 }
    return try seconds {
      try library.insert(
        contentsOf: (ownNext..<ownNext + 20_000).lazy.map { Film(number: $0, studios: studios) })
    }
  })
struct Undo: Error {}
try raw.run("INSERT INTO studio VALUES (-1, '', 0); UPDATE film SET studioId = -1 WHERE id < \(films)")
try library.save(Studio(id: -1, name: "", country: 0))
try library.filter(Film.self, where: \.id < films).update(.set(\.studio, to: Reference(-1)))
comparisons.append(
  try Comparison("a cascade of 100,000", beside: "ON DELETE CASCADE", .ratio(2), rounds: 5) {
    try raw.run("BEGIN IMMEDIATE")
    let time = try seconds { try raw.run("DELETE FROM studio WHERE id = -1") }
    try raw.run("ROLLBACK")
    return time
  } library: {
    var time = 0.0
    do {
      try library.transaction { store in
        time = try seconds { try store.delete(Studio.self, id: -1) }
        throw Undo()
      }
    } catch is Undo {}
    return time
  })
print("Relations on SQLite: \(studios) studios, \(films) films")
for comparison in comparisons { print(comparison) }
if !comparisons.allSatisfy(\.isMet) { exit(1) }
