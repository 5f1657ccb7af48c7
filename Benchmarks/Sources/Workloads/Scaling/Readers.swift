import Foundation
import PersistenceCore
import SeededRandom
import Synchronization

/// Parallel reads by key on several threads, while one thread commits.
enum Readers {
  /// The results for one number of threads.
  struct Result: Codable {
    let engine: Engine
    let name: String
    let threads: Int
    let readsPerSecond: Double
    /// The reads as a multiple of one thread's in the same round.
    let speedup: Double
    /// The 99.9th percentile of a read, in microseconds.
    let slowest: Double
    /// The reads slower than ``interruption``, in a second.
    ///
    /// The system interrupts threads so many times a second, whatever they do: more reads share that number, so the
    /// percentile of shorter reads is lower.
    let interruptedPerSecond: Double
    let commitsPerSecond: Double
    /// The time of a read during an uncommitted transaction, in microseconds.
    let besideOpenTransaction: Double
  }

  private static let threadCounts = [1, 2, 4, 8]
  private static let rounds = 9
  private static let seconds = 0.4
  /// The time of a read that was interrupted, in nanoseconds.
  private static let interruption: UInt64 = 10_000

  /// Measures one engine in this process.
  static func measure(_ engine: Engine, _ options: Options) throws -> [Result] {
    keepMemory()
    let folder = try Folder(options.folder).new("readers-\(engine)")
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let input = Input(rows: options.rows, singles: 20)
    let raw = try Folder(folder.path("raw"))
    let library = try Repository(
      opening: Library.Location(engine: engine, folder: folder).url("library"),
      engines: [.sqlite, .lmdb], monitoring: Library.quiet)
    try library.insert(contentsOf: input.movies)
    let stores: [any BenchmarkReader] = [
      engine == .sqlite ? try RawSQLiteBenchmarkReader(raw, input) : try RawLMDBBenchmarkReader(raw, input),
      LibraryBenchmarkReader(repository: library),
    ]
    let waits = try stores.map { try readBesideOpenTransaction($0, input.movies[0]) }
    // Each round covers all numbers of threads, because the machine's speed varies.
    var rounds: [[[Run]]] = []
    for round in 1...Self.rounds {
      say("\(engine.title): readers, round \(round) of \(Self.rounds)")
      rounds.append(
        try threadCounts.map { threads in try stores.map { try run($0, threads: threads, input.movies) } })
    }
    var results: [Result] = []
    for (place, threads) in threadCounts.enumerated() {
      for (number, store) in stores.enumerated() {
        let runs = rounds.map { $0[place][number] }
        results.append(
          Result(
            engine: engine, name: store.name, threads: threads,
            readsPerSecond: median(runs.map(\.reads)),
            speedup: median(rounds.map { $0[place][number].reads / $0[0][number].reads }),
            slowest: median(runs.map(\.slowest)), interruptedPerSecond: median(runs.map(\.interrupted)),
            commitsPerSecond: median(runs.map(\.commits)), besideOpenTransaction: waits[number]))
      }
    }
    return results
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

extension Readers {
  private struct Run {
    let reads: Double
    let slowest: Double
    let interrupted: Double
    let commits: Double
  }

  /// The results of the threads.
  private struct Gathered {
    var times: [UInt64] = []
    var commits = 0
    var failure: (any Error)?
  }

  private static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Runs reading threads and a writing one for a while.
  private static func run(_ store: some BenchmarkReader, threads: Int, _ movies: [Movie]) throws -> Run {
    let gathered = Mutex(Gathered())
    let isOver = Atomic(false)
    // Waits for all threads before the first measured read.
    let start = now() + 50_000_000
    let end = start + UInt64(seconds * 1e9)
    try withThreads(threads + 1) { number in
      do {
        if number == threads {
          var commits = 0
          while !isOver.load(ordering: .relaxed) {
            var movie = movies[commits * 7_919 % movies.count]
            movie.votes += 1
            try store.commit(movie) {}
            commits += 1
            // The writer pauses, because a busy one would take a core from the readers.
            usleep(2_000)
          }
          gathered.withLock { $0.commits += commits }
        } else {
          let times = try read(store, seed: UInt64(number), count: movies.count, from: start, to: end)
          gathered.withLock { $0.times += times }
          isOver.store(true, ordering: .relaxed)
        }
      } catch {
        isOver.store(true, ordering: .relaxed)
        gathered.withLock { $0.failure = error }
      }
    }
    let all = gathered.withLock { $0 }
    if let failure = all.failure { throw failure }
    let times = all.times.sorted()
    guard let slowest = times.dropFirst(times.count * 999 / 1_000).first else {
      throw Failure("the readers read nothing")
    }
    return Run(
      reads: Double(times.count) / seconds, slowest: Double(slowest) / 1e3,
      interrupted: Double(times.count { $0 > interruption }) / seconds,
      commits: Double(all.commits) / seconds)
  }

  /// Reads random keys until the deadline, and records the time of each read.
  private static func read(
    _ store: some BenchmarkReader, seed: UInt64, count: Int, from start: UInt64, to end: UInt64
  ) throws -> [UInt64] {
    let read = try store.makeReader()
    var generator = SplitMix(state: seed)
    var times: [UInt64] = []
    times.reserveCapacity(1 << 20)
    var before = now()
    while before < end {
      guard try read(Int64(generator.next() % UInt64(count))) else { throw Failure("a movie is missing") }
      let after = now()
      if before >= start { times.append(after - before) }
      before = after
    }
    return times
  }

  /// Runs threads until they end.
  private static func withThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(number)
        group.leave()
      }
    }
    group.wait()
  }

  /// Returns the time of a read during another thread's uncommitted transaction, in microseconds.
  private static func readBesideOpenTransaction(_ store: some BenchmarkReader, _ movie: Movie) throws
    -> Double
  {
    let time = Mutex<UInt64?>(nil)
    try store.commit(movie) {
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread {
        if let read = try? store.makeReader(), (try? read(movie.id)) != nil {
          let before = now()
          if (try? read(movie.id)) == true { time.withLock { $0 = now() - before } }
        }
        group.leave()
      }
      // The transaction stays open until the read ends, or long enough to show that it waits.
      _ = group.wait(timeout: .now() + 2)
    }
    guard let nanoseconds = time.withLock({ $0 }) else {
      throw Failure("\(store.name): a read waited for the transaction of another thread")
    }
    return Double(nanoseconds) / 1e3
  }
}
