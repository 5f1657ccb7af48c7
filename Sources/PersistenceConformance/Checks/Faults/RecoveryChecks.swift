import Foundation
import PersistenceCore

/// W5: what is left after a kill or a power loss, and the next opening.
enum RecoveryChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "if an opening accepts a store with a torn tail, every later commit survives the next opening", [.w5],
      needs: [.writable, .durable, .files, .detectingDamage], tornTails
    ).slow,
    ConformanceCheck(
      "the partial write of a killed commit is dropped, and later commits survive the next opening", [.w5],
      needs: [.writable, .durable, .files], partialCommits
    ).slow,
    ConformanceCheck(
      "opening a store read-only after a kill repairs nothing and changes none of its data", [.w5, .e5],
      needs: [.writable, .durable, .files], readOnly
    ).slow,
  ]

  /// A text that only files with records contain.
  private static let mark = "the mark of a record that a killed process has committed"

  /// A store that a process has written to until it was killed.
  private static func killed(_ context: ContextUnderTest) throws -> StoreUnderTest {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(Account(500, balance: 1, note: mark))
    try repository.close()
    let worker = try store.worker("commit", "\(context.seed ?? 100)", "0")
    try worker.wait(for: "ack 12")
    worker.kill()
    return store
  }

  /// A store whose process was killed between two transactions, the same ones in each run.
  ///
  /// Had it been killed at another moment, the last write might have replaced the whole file, which then has no tail.
  private static func stopped(_ context: ContextUnderTest) throws -> StoreUnderTest {
    let store = try context.makeStore()
    let worker = try store.worker("step", "\(context.seed ?? 100)")
    defer { worker.kill() }
    try worker.wait(for: "open")
    for number in 1...12 {
      worker.proceed()
      try worker.wait(for: "ack \(number)")
    }
    return store
  }

  @Sendable private static func tornTails(_ context: ContextUnderTest) throws {
    let store = try stopped(context)
    let files = try store.contents().filter { !$0.value.isEmpty }
      .sorted { ($0.value.count, $0.key) > ($1.value.count, $1.key) }
    var variants: [StoreVariants.Variant] = []
    for (file, data) in files.prefix(context.effort.times(3, thorough: 20)) {
      for cut in [1, 9, 100, 600, 4096, 5000] where cut < data.count {
        variants.append(
          .init(file: file, name: "its last \(cut) bytes cut off", apply: { Data($0.dropLast(cut)) }))
      }
      variants.append(
        .init(
          file: file, name: "its last 64 bytes zero",
          apply: { data in
            var data = data
            data.resetBytes(in: max(0, data.count - 64)..<data.count)
            return data
          }))
    }
    for answer in try StoreVariants(original: store, variants: variants).examine("continue") {
      try expect(answer.kind == "kept" || answer.kind == "error", answer.description)
    }
  }

  /// Tears what a commit appends to a file, as a kill in the middle of the write does.
  ///
  /// That needs no checksums: the length of an entry tells whether it is whole. Stores whose commits append to no file
  /// have nothing to tear.
  @Sendable private static func partialCommits(_ context: ContextUnderTest) throws {
    let seed = context.seed ?? 101
    let store = try context.makeStore()
    let worker = try store.worker("step", "\(seed)")
    defer { worker.kill() }
    try worker.wait(for: "open")
    var torn = 0
    for number in 1...context.effort.times(6, thorough: 20) {
      let before = StoreUnderTest(context, folder: try context.requireScratch().make("before", on: .fast))
      try FileManager.default.removeItem(at: before.folder)
      try FileManager.default.copyItem(at: store.folder, to: before.folder)
      let old = try fileNumbers(of: store)
      worker.proceed()
      try worker.wait(for: "ack \(number)")
      // A file that was replaced by another one was not appended to, even if it begins with the same bytes.
      let kept = Set(try fileNumbers(of: store).filter { old[$0.key] == $0.value }.keys)
      let commit = AppendedCommit(of: kept, from: try before.contents(), to: try store.contents())
      // The first transaction may create the models one by one.
      guard number > 1, !commit.variants.isEmpty else { continue }
      for answer in try StoreVariants(original: before, variants: commit.variants).examine("script-\(seed)") {
        torn += 1
        let words = answer.text.split(separator: " ")
        if !commit.isOnlyAppended, answer.kind == "error" { continue }
        try expect(
          answer.kind == "kept" && ["\(number - 1)", "\(number)"].contains(String(words.last ?? "")),
          "transaction \(number) was partly written: \(answer.description)")
      }
    }
    CheckTrace.count("partial writes of commits", torn)
  }

  /// The inodes of a store's files.
  private static func fileNumbers(of store: StoreUnderTest) throws -> [String: Int] {
    try store.contents().keys.reduce(into: [:]) { numbers, file in
      let path = store.folder.appendingPathComponent(file).path
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      numbers[file] = (attributes[.systemFileNumber] as? NSNumber)?.intValue
    }
  }

  /// The bytes that a commit appended to files.
  private struct AppendedCommit {
    /// The store before the commit, with a part of the appended bytes.
    var variants: [StoreVariants.Variant] = []
    /// Whether the commit changed the size of one file only, so that a kill can leave each of the variants.
    let isOnlyAppended: Bool

    init(of files: Set<String>, from before: [String: Data], to after: [String: Data]) {
      for (file, new) in after.sorted(by: { $0.key < $1.key }) where files.contains(file) {
        guard let old = before[file], old.count < new.count, new.prefix(old.count) == old else { continue }
        let count = new.count - old.count
        for cut in Set([1, 8, count / 2, count - 512, count - 1]).sorted() where cut > 0 && cut < count {
          variants.append(
            .init(
              file: file, name: "\(cut) of \(count) appended bytes written",
              apply: { _ in Data(new.prefix(old.count + cut)) }))
        }
      }
      let changed = after.filter { before[$0.key]?.count != $0.value.count }
      isOnlyAppended = changed.count == 1 && after.count == before.count
    }
  }

  @Sendable private static func readOnly(_ context: ContextUnderTest) throws {
    let store = try killed(context)
    let before = try store.contents()
    let marked = before.filter { $0.value.range(of: Data(mark.utf8)) != nil }
    // A store that encodes text in its own way may keep its data in any file.
    let data = marked.isEmpty ? before : marked
    do {
      let reader = try store.open(.readOnly)
      try expect(reader.find(Account.self, id: 500)?.note, equals: mark, "the record from before the kill")
      try expect(reader.count(Account.self) > 1, "the killed process's records")
      try reader.close()
    } catch let error as PersistenceError {
      let codes: [PersistenceError.Code] = [.readOnly, .accessDenied, .busy, .damaged]
      try expect(
        codes.contains(error.code), "an opening that would have to recover the store throws \(error)")
    }
    let after = try store.contents()
    for (file, bytes) in data.sorted(by: { $0.key < $1.key }) {
      try expect(after[file] == bytes, "a read-only opening changed the file \(file)")
    }
    let repository = try store.open()
    try expect(repository.find(Account.self, id: 500)?.note, equals: mark, "the record, after recovery")
    _ = try CommitScript.read(repository)
  }
}
