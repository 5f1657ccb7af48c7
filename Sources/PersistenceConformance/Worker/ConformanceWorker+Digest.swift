import PersistenceCore

extension ConformanceWorker {
  /// `digest`: reads everything and prints a summary.
  @Sendable static func digest(_ store: WorkerStore, _ arguments: [String]) throws {
    let repository = try store.open()
    say("digest \(try StoreDigest.of(repository))")
  }
}

/// The content of a store, as one line of text.
enum StoreDigest {
  static func of(_ repository: any PersistentRepository) throws -> String {
    var text = ""
    try repository.filter(Account.self).result().forEach { text += "\($0)" }
    try repository.filter(Person.self).result().forEach { text += "\($0)" }
    let sorted = try repository.filter(Person.self).sorted(by: \.age).sorted(by: \.name).result()
    try sorted.forEach { text += $0.id }
    return "\(text.utf8.count)-\(Array(text.utf8).withUnsafeBytes(Checksum.of))"
  }
}
