import Foundation
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// E5, E8, W5: the files of a store.
  static let files: [PlantedDefect] = [
    withoutNoticing("a removed store acknowledges commits") { _, _ in }
      .caught(by: "when a store's files are removed, no write is acknowledged that the path does not hold"),
    withoutNoticing("a removed store is created anew with the last commit only") { path, writes in
      guard !FileManager.default.fileExists(atPath: path) else { return }
      try replay(writes, at: path)
    }.caught(by: "when a store's files are removed, no write is acknowledged that the path does not hold"),
    withoutNoticing("a replaced store acknowledges commits") { path, _ in
      if !FileManager.default.fileExists(atPath: path) { throw PersistenceError.removedStore(path) }
    }.caught(
      by:
        "when a store's files are replaced by another store's, no write is acknowledged that the path does not"
        + " hold"),
    withoutNoticing("a replaced store is overwritten") { path, writes in
      guard FileManager.default.fileExists(atPath: path) else { throw PersistenceError.removedStore(path) }
      try FileManager.default.removeItem(atPath: path)
      try replay(writes, at: path)
    }.caught(
      by:
        "when a store's files are replaced by another store's, no write is acknowledged that the path does not"
        + " hold"),
    PlantedDefect(
      "a store without checksums declares that it detects damage", .e5,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.capabilities = { $0.detectsDamage = true }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "a damaged block is detected, or the records are read as they were written"),
    PlantedDefect(
      "checksums are verified when a store is opened, and not when it is read", .e5,
      opening: { path, options, monitoring in
        let (file, sum) = (URL(fileURLWithPath: path), URL(fileURLWithPath: path + ".sum"))
        @Sendable func checksum() throws -> Data {
          let bytes = try Data(contentsOf: file)
          return Data("\(Array(bytes).withUnsafeBytes(Checksum.of))".utf8)
        }
        if let known = try? Data(contentsOf: sum), try known != checksum() {
          throw PersistenceError.damaged("the file does not match its checksum")
        }
        let context = try sqlite(path, options, monitoring)
        try? FileManager.default.removeItem(at: sum)
        var flaw = Flaw()
        flaw.capabilities = { $0.detectsDamage = true }
        flaw.close = { context in
          try context.close()
          try checksum().write(to: sum)
        }
        return FlawedContext(context, flaw)
      }
    ).caught(
      by:
        "a block that is damaged in an open store is detected by every read of it, or what was written is read"
    ),
    PlantedDefect(
      "a file that was cut off ends the process", .e5,
      opening: { path, options, monitoring in
        let context = try sqlite(path, options, monitoring)
        let known = fileSize(path)
        var flaw = Flaw()
        flaw.fetch = { request, reader in
          // As an access to mapped memory behind the file's end.
          if fileSize(path) < known { kill(getpid(), SIGBUS) }
          return try reader.fetch(request)
        }
        return FlawedContext(context, flaw)
      }
    ).caught(
      by:
        "a file that is cut off while it is open is read as it was, or throws, and does not end the process"),
    PlantedDefect(
      "a read-only opening repairs the store", .w5,
      opening: { path, options, monitoring in
        if options.isReadOnly, FileManager.default.fileExists(atPath: path) {
          var writing = options
          writing.isReadOnly = false
          writing.creates = false
          let context = try sqlite(path, writing, monitoring)
          try context.transaction { _ in }
          try context.close()
        }
        return try sqlite(path, options, monitoring)
      }
    ).caught(by: "opening a store read-only after a kill repairs nothing and changes none of its data"),
    PlantedDefect(
      "reading an empty file makes it a store", .e5,
      opening: { path, options, monitoring in
        var options = options
        if options.isReadOnly, (try? Data(contentsOf: URL(fileURLWithPath: path)))?.isEmpty == true {
          options.isReadOnly = false
        }
        return try sqlite(path, options, monitoring)
      }
    ).caught(by: "an empty file is a new store or throws notAStore, and reading it writes nothing"),
    PlantedDefect(
      "an empty file is reported as damaged", .e5,
      opening: { path, options, monitoring in
        if (try? Data(contentsOf: URL(fileURLWithPath: path)))?.isEmpty == true {
          throw PersistenceError.damaged("the file has no header")
        }
        return try sqlite(path, options, monitoring)
      }
    ).caught(by: "an empty file is a new store or throws notAStore, and reading it writes nothing"),
  ]

  /// A mirror that does not notice that its store's files are gone.
  ///
  /// The closure gets the writes of each commit that the store's own context refuses.
  private static func withoutNoticing(
    _ name: String, instead: @escaping @Sendable (String, [WriteRecorder.Write]) throws -> Void
  ) -> PlantedDefect {
    PlantedDefect(
      name, .e8,
      opening: { path, options, monitoring in
        try MirroredContext(sqlite(path, options, monitoring), before: memory(options, monitoring)) {
          back, isClosing, commits in
          guard !isClosing else { return }
          do {
            try back.apply(commits.last)
          } catch let error as PersistenceError where error.code == .missingStore {
            try instead(path, commits.last ?? [])
          }
        }
      })
  }
}

/// The size of a file in bytes; 0 if it is missing.
private func fileSize(_ path: String) -> Int {
  let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
  return size?.intValue ?? 0
}

/// Applies writes to the store at a path, which is created.
private func replay(_ writes: [WriteRecorder.Write], at path: String) throws {
  let fresh = try sqlite(path, OpeningOptions(), Monitoring())
  try fresh.transaction { transaction in
    for write in writes {
      if case .save(_, let schema) = write { try transaction.define(schema) }
      try write.apply(to: transaction)
    }
  }
  try fresh.close()
}
