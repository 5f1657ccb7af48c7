import Foundation
import MigrationStores
import PersistenceConformance
import PersistenceDriver
import PersistenceMigration
import PersistenceSQLite
import Testing
import PersistenceDriverSupport

@Suite("Faults during a migration")
struct FaultTests {
  /// Whether this process may mount file systems.
  static let canMount: Bool = {
    #if os(Linux)
      let probe = try? shell(
        "mkdir -p /tmp/probe.$$ && mount -t tmpfs -o size=1m tmpfs /tmp/probe.$$ && echo yes")
      return probe?.contains("yes") == true
    #else
      return false
    #endif
  }()

  /// Runs a script in its own mount namespace.
  private static func shell(_ script: String) throws -> String {
    let (process, output) = try Process.started { process in
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["unshare", "-m", "sh", "-c", script]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      return output
    }
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  /// Creates a SQLite store of twenty thousand records, and a path for a new folder beside it.
  private static func withSource(_ body: (_ source: String, _ disk: String) throws -> Void) throws {
    try TestStores.withFolder { folder in
      let source = folder.appendingPathComponent("source").path
      let store = try TestStores.open("sqlite", source)
      try SampleStores.fill(store, pairCount: 20_000)
      try store.close()
      try body(source, folder.appendingPathComponent("disk").path)
    }
  }

  @Test(
    "A full disk throws storeFull, leaves the source unchanged, and allows a resume after space is freed",
    .enabled(if: canMount, "it takes the right to mount a small disk"), arguments: TestStores.durable)
  func fullDisk(engine: String) throws {
    try Self.withSource { source, disk in
      let worker = WorkerRun.executable.path
      let migrate = "\(worker) sqlite \(source) \(engine) \(disk)/store"
      let size = engine == "json" ? "-o size=64m,nr_inodes=9000" : "-o size=\(engine == "lmdb" ? 1 : 2)m"
      let said = try Self.shell(
        """
        mkdir \(disk); mount -t tmpfs \(size) tmpfs \(disk)
        before=$(cat \(source) | sha256sum)
        \(migrate) new digest 1000 | tail -n 1
        test "$before" = "$(cat \(source) | sha256sum)" && echo untouched
        mount -o remount,size=512m,nr_inodes=0 \(disk)
        \(migrate) resume digest 1000 | tail -n 1
        \(worker) compare sqlite \(source) \(engine) \(disk)/store
        """)
      let lines = said.split(separator: "\n").map(String.init)
      try #require(lines.count == 4, "\(lines)")
      #expect(lines[0].hasPrefix("error storeFull"), "\(lines[0])")
      #expect(lines[1] == "untouched")
      #expect(lines[2].hasPrefix("finished"), "\(lines[2])")
      #expect(lines[3] == "equal")
    }
  }

  @Test(
    "A full disk during an index build throws storeFull and allows a resume after space is freed",
    .enabled(if: canMount, "it takes the right to mount a small disk"))
  func fullDiskWhileIndexing() throws {
    try Self.withSource { source, disk in
      let worker = WorkerRun.executable.path
      let migrate = "\(worker) sqlite \(source) lmdb \(disk)/store"
      let said = try Self.shell(
        """
        mkdir \(disk)
        for size in 2 3 4 5; do
          mount -t tmpfs -o size=${size}m tmpfs \(disk)
          \(migrate) new digest 1000 | tail -n 2 | cut -d ' ' -f 1,2 | tr '\\n' ' '
          mount -o remount,size=512m \(disk)
          \(migrate) resume digest 1000 | tail -n 1 | tr '\\n' ' '
          \(worker) compare sqlite \(source) lmdb \(disk)/store | tr '\\n' ' '
          ls \(disk)/store | tr '\\n' ' '
          echo
          umount \(disk)
        done
        """)
      let expected = "indexing Pair error storeFull finished 20005 equal data.mdb lock.mdb turn.lock "
      #expect(said.split(separator: "\n").map(String.init) == [String](repeating: expected, count: 4))
    }
  }

  @Test("Rejects one unreadable record of 10,000 with its position, and copies the others")
  func unreadable() throws {
    try TestStores.withFolder { folder in
      let source = try SQLiteContext(path: folder.appendingPathComponent("source").path)
      try SampleStores.fill(source, pairCount: 10_000)
      let rows = try ResumeTests.rows(of: SampleStores.pairs(), in: source)
      _ = try source.execute(
        """
        UPDATE "Pair" SET n = 'no number'
        WHERE ("left", "right") IN (SELECT "left", "right" FROM "Pair" ORDER BY "left", "right" LIMIT 1 OFFSET 5000)
        """)
      let stopped = #expect(throws: PersistenceError.self) {
        try Migration(from: source, to: MemoryContext()).run()
      }
      #expect(stopped?.code == .damaged, "\(stopped.map { "\($0)" } ?? "")")
      for verification in [MigrationOptions.Verification.digest, .count] {
        let destination = MemoryContext()
        let options = MigrationOptions(batchSize: 700, failures: .reject, verification: verification)
        let report = try Migration(from: source, to: destination, options: options).run()
        #expect(report.models[0].counts == MigrationCounts(read: 10_000, written: 9999, rejected: 1))
        let reject = try #require(report.rejects.first)
        #expect(reject.code == "damaged" && reject.record == nil)
        var expected = rows
        let missing = expected.remove(at: reject.position)
        #expect(try ResumeTests.rows(of: SampleStores.pairs(), in: destination) == expected)
        if let key = reject.key { #expect(key == RecordKey(Array(missing.prefix(2)))) }
      }
      try source.close()
    }
  }

  @Test("Memory stays below 100 MB for many and for large records")
  func memory() throws {
    try TestStores.withFolder { folder in
      let path = folder.appendingPathComponent("source").path
      let source = try TestStores.open("sqlite", path)
      try SampleStores.fill(source, pairCount: 50_000)
      let kinds = try SampleStores.everyKind()
      let position = try #require(kinds.position(of: "data field") ?? kinds.position(of: "bytes field"))
      for number in 0..<40 {
        var row: [PersistentValue] = [.text("large \(number)")] + FieldKind.allCases.map { _ in .null }
        row[position] = .bytes([UInt8](repeating: UInt8(number), count: 4 << 20))
        try SampleStores.save(row, kinds, in: source)
      }
      try source.close()
      let run = try WorkerRun(
        ["sqlite", path, "sqlite", folder.appendingPathComponent("copy").path, "new", "digest", "10000"],
        killedAfter: nil)
      try #require(run.lines.last == "finished 50045", "\(run.lines.suffix(1))")
      let memory = try #require(run.lines.dropLast().last?.split(separator: " ").last.flatMap { Int($0) })
      #expect(memory < 100 << 20, "\(memory >> 20) MB")
    }
  }

  @Test("Rejects a damaged file of a JSON directory, and copies the others")
  func damagedFile() throws {
    try TestStores.withFolder { folder in
      let path = folder.appendingPathComponent("source")
      let source = try TestStores.open("json", path.path)
      try SampleStores.fill(source, pairCount: 700)
      let rows = try ResumeTests.rows(of: SampleStores.pairs(), in: source)
      let files = try FileManager.default.contentsOfDirectory(
        atPath: path.appendingPathComponent("Pair").path)
      for file in files.sorted().prefix(300).suffix(2) {
        try Data("{ damaged".utf8).write(to: path.appendingPathComponent("Pair/\(file)"))
      }
      let destination = MemoryContext()
      let options = MigrationOptions(batchSize: 64, failures: .reject)
      let report = try Migration(from: source, to: destination, options: options).run()
      #expect(report.models[0].counts == MigrationCounts(read: 700, written: 698, rejected: 2))
      let places = Set(report.rejects.map(\.position))
      let expected = rows.enumerated().filter { !places.contains($0.offset) }.map(\.element)
      #expect(try ResumeTests.rows(of: SampleStores.pairs(), in: destination) == expected)
      #expect(report.rejects.allSatisfy { $0.code == "damaged" })
      try source.close()
    }
  }

  @Test("Detects a changed byte in an LMDB file, rejects its record, and copies the others")
  func damagedMap() throws {
    try TestStores.withFolder { folder in
      let path = folder.appendingPathComponent("source").path
      let notes = try ModelSchema(
        name: "Note", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"],
        indexes: [IndexSchema(["text"])])
      let source = try TestStores.open("lmdb", path)
      try source.transaction { try $0.define(notes) }
      for number in 0..<300 {
        try SampleStores.save(
          [.integer(Int64(number)), .text("the text of note \(number).")], notes, in: source)
      }
      let rows = try ResumeTests.rows(of: notes, in: source)
      try source.close()
      let file = URL(fileURLWithPath: path).appendingPathComponent("data.mdb")
      var data = try Data(contentsOf: file)
      var flipped = 0
      var rest = data.startIndex..<data.endIndex
      while let place = data.range(of: Data("the text of note 123.".utf8), in: rest) {
        data[place.lowerBound + 4] ^= 1
        flipped += 1
        rest = place.upperBound..<data.endIndex
      }
      try #require(flipped > 0)
      try data.write(to: file)

      let damaged = try TestStores.open("lmdb", path)
      let stopped = #expect(throws: PersistenceError.self) {
        try Migration(from: damaged, to: MemoryContext()).run()
      }
      #expect(stopped?.code == .damaged && stopped?.key == RecordKey([.integer(123)]))
      let destination = MemoryContext()
      let options = MigrationOptions(batchSize: 64, failures: .reject)
      let report = try Migration(from: damaged, to: destination, options: options).run()
      #expect(report.models[0].counts == MigrationCounts(read: 300, written: 299, rejected: 1))
      #expect(report.rejects.map(\.position) == [123])
      var expected = rows
      expected.remove(at: 123)
      #expect(try ResumeTests.rows(of: notes, in: destination) == expected)
      try damaged.close()
    }
  }

  @Test(
    "One flipped byte, one missing and one extra record are each found and named", arguments: TestStores.all)
  func damage(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 500)
      let kinds = try SampleStores.everyKind()
      let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
      _ = try Migration(from: source, to: destination, options: MigrationOptions(verification: .full)).run()
      let rows = try ResumeTests.rows(of: kinds, in: source)
      let position = try #require(kinds.position(of: "string field"))
      let row = try #require(
        rows.first { if case .text(let text) = $0[position] { text.utf8.count > 100 } else { false } })
      guard case .text(let text) = row[position], case .text(let key) = row[0] else { return }
      var bytes = Array(text.utf8)
      bytes[15_000] ^= 1
      var changed = row
      changed[position] = .text(String(decoding: bytes, as: UTF8.self))
      try SampleStores.save(changed, kinds, in: destination)
      let pairs = try SampleStores.pairs()
      let missing = try RecordKey(Array(ResumeTests.rows(of: pairs, in: source)[250].prefix(2)))
      try destination.transaction { _ = try $0.delete(missing, in: pairs) }
      let extra: [PersistentValue] = [.integer(77), .uuid(UUID()), .double(1)]
      try SampleStores.save(extra, pairs, in: destination)
      let report = try StoreComparison(source, destination).run()
      #expect(!report.isEqual)
      #expect(
        report.models[0].differences.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [
          .onlyRight, .onlyLeft,
        ])
      #expect(
        Set(report.models[0].differences.map(\.key)) == [missing, RecordKey(Array(extra.prefix(2)))])
      #expect(report.models[1].differences.map(\.key) == [RecordKey([.text(key)])])
      #expect(report.models[1].differences.first?.fields.map(\.name) == ["string field"])
      try destination.close()
    }
  }

  @Test(
    "A source that is written to all the while is copied as it was at one moment", arguments: TestStores.all)
  func busySource(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = try TestStores.open(engine, folder.appendingPathComponent("source").path)
      let pairs = try SampleStores.pairs()
      try SampleStores.fill(source, pairCount: 600)
      // Every transaction moves an amount between records, so that the sum reveals a torn copy.
      let keys = try ResumeTests.rows(of: pairs, in: source).map { Array($0.prefix(2)) }
      try source.transaction { transaction in
        let row = RowBuffer(count: 3)
        for key in keys {
          row.set(key + [.double(10)])
          try row.withRow { try transaction.save($0, in: pairs) }
        }
      }
      let isOver = Flag()
      let writer = Thread {
        var round = 0
        while !isOver.isSet {
          round += 1
          let (first, second) = (keys[round % 300], keys[300 + round * 7 % 300])
          try? source.transaction { transaction in
            for (key, change) in [(first, -1.0), (second, 1)] {
              var value = 0.0
              _ = try transaction.find(RecordKey(key), in: pairs) { value = $0[2].doubleValue }
              let row = RowBuffer(count: 3)
              row.set(key + [.double(value + change)])
              try row.withRow { try transaction.save($0, in: pairs) }
            }
          }
        }
        isOver.acknowledge()
      }
      writer.start()
      let destination = MemoryContext()
      let options = MigrationOptions(batchSize: 20, verification: .full)
      _ = try Migration(from: source, to: destination, options: options).run { _ in usleep(500) }
      isOver.set()
      let copied = try ResumeTests.rows(of: pairs, in: destination)
      #expect(copied.count == 600)
      let sum = copied.reduce(0.0) { sum, row in
        if case .double(let value) = row[2] { sum + value } else { .nan }
      }
      #expect(sum == 6000)
      try source.close()
    }
  }

  /// A flag to stop another thread and to wait for its end.
  private final class Flag: @unchecked Sendable {  // guarded by the condition
    private let condition = NSCondition()
    private var isAsked = false
    private var isDone = false

    var isSet: Bool { condition.withLock { isAsked } }

    func set() {
      condition.withLock {
        isAsked = true
        while !isDone { condition.wait() }
      }
    }

    func acknowledge() {
      condition.withLock {
        isDone = true
        condition.broadcast()
      }
    }
  }
}
