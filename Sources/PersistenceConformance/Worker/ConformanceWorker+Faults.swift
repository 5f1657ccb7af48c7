import Foundation
import PersistenceCore

extension ConformanceWorker {
  /// `fill limit count`: saves records in transactions of four until the medium fails.
  ///
  /// It prints the acknowledged transactions, the reason of the failure, and the content of the store.
  ///
  /// With a limit, no file may exceed that number of bytes, as on a full disk.
  @Sendable static func fill(_ store: WorkerStore, _ arguments: [String]) throws {
    if let limit = arguments.first.flatMap({ UInt64($0) }) { FileSizeLimit.set(limit) }
    let repository = try store.open()
    say("open")
    var number = try repository.count(Blob.self)
    let last = arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000
    while number < last {
      do {
        try repository.save(contentsOf: (0..<4).map { Blob(number + $0, bytes(number + $0)) })
      } catch let error as PersistenceError {
        say("refused \(error.code.rawValue) \(error)")
        break
      }
      number += 4
      say("ack \(number)")
    }
    say("count \(try repository.count(Blob.self))")
    for blob in try repository.fetch(Blob.self) where blob.bytes != bytes(blob.id) {
      say("error record \(blob.id) differs")
    }
    try repository.close()
    say("closed")
  }

  /// The bytes of a record, which no medium can compress.
  static func bytes(_ number: Int) -> Data {
    var random = SeededGenerator(seed: UInt64(number))
    let words = (0..<2500).map { _ in random.next() }
    return words.withUnsafeBytes { Data($0) }
  }

  /// `unprivileged`: opens, reads and writes as a user without permissions, and prints how far it came.
  @Sendable static func unprivileged(_ store: WorkerStore, _ arguments: [String]) throws {
    guard getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0) else { return say("error setuid") }
    func attempt(_ what: String, _ body: () throws -> String) {
      do {
        say("\(what) \(try body())")
      } catch let error as PersistenceError {
        say("\(what) \(error.code.rawValue) \(error)")
      } catch {
        say("\(what) other \(error)")
      }
    }
    var repository: Repository?
    attempt("open") {
      repository = try store.open()
      return "ok"
    }
    guard let repository else { return }
    attempt("count") { "\(try repository.count(Account.self))" }
    attempt("save") {
      try repository.save(Account(1, balance: 999))
      return "ok"
    }
    attempt("read") { try StoreDigest.of(repository) }
  }
}
