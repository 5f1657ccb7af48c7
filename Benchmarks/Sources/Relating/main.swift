// The costs of relations on SQLite, beside joins and foreign keys in SQLite's C interface, and beside GRDB.
//
//   swift run -c release Relating [--folder FOLDER] [--pages]
//
// Medians of interleaved rounds. The program fails if a goal is missed.

import Comparing
import Foundation
import Logging
import PersistenceCore
import PersistenceSQLite
import SilentLogging

let (studios, films, rounds) = (1_000, 100_000, 9)
let arguments = CommandLine.arguments
let base = arguments.firstIndex(of: "--folder").map { arguments[$0 + 1] } ?? NSTemporaryDirectory()
let folder = base + "/relating-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

let raw = try RawSQLite(folder + "/raw.sqlite")
try raw.insertStudios(0..<studios)
try raw.insertFilms(0..<films, studios: studios)
let library = try Repository(
  opening: "sqlite:\(folder)/library.sqlite", engines: [.sqlite],
  monitoring: Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() }))
try library.save(contentsOf: (0..<studios).lazy.map { Studio(number: $0) })
try library.save(contentsOf: (0..<films).lazy.map { Film(number: $0, studios: studios) })
let grdb = try GRDBStore(folder + "/raw.sqlite")

func require(_ isRight: Bool, _ what: String) throws {
  guard isRight else { throw Failure("\(what) is wrong") }
}

/// Reads pages that are spread over the films.
func pages(of size: Int, _ page: (Int) throws -> Int) throws -> Double {
  let count = max(10, 20_000 / size)
  var read = 0
  let time = try seconds {
    for number in 0..<count { read += try page(number * 7919 % (films - size - 1)) }
  }
  try require(read == count * size, "the number of films of pages")
  return time
}

func ownPages(of size: Int) throws -> Double {
  try pages(of: size) { id in
    var found: [(Film, Studio)] = []
    found.reserveCapacity(size)
    for pair in try library.filter(Film.self, where: \.id > id).limit(size).including(\.studio).result() {
      found.append(pair)
    }
    try require(found.allSatisfy { $0.0.studio.key == $0.1.id }, "an included studio")
    return found.count
  }
}

// For a profiler: pages only.
if arguments.contains("--pages") {
  for _ in 0..<50 { _ = try ownPages(of: 1_000) }
  exit(0)
}

var comparisons: [Comparison] = []
for (size, goal) in [(100, 1.6), (1_000, 1.1)] {
  comparisons.append(
    try Comparison("pages of \(size) with one reference", beside: "LEFT JOIN", .ratio(goal), rounds: rounds) {
      try pages(of: size) { try raw.page(after: $0, size: size).count }
    } library: {
      try ownPages(of: size)
    })
  comparisons.append(
    try Comparison("the same", beside: "GRDB including(required:)", .ratio(1), rounds: rounds) {
      try pages(of: size) { try grdb.page(after: $0, size: size).count }
    } library: {
      try ownPages(of: size)
    })
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
    return try seconds { try raw.insertFilms(next..<next + 20_000, studios: studios) }
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
