import Foundation
import PersistenceCore

/// E5: failing media.
enum MediumChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a store that is opened read-only can be read, and rejects every write with readOnly", [.e5],
      needs: [.writable, .files], readOnlyOption),
    ConformanceCheck(
      "a read-only process sees the writes of another process", [.e5, .c2],
      needs: [.writable, .multiProcess], readOnlyBesideWriter),
    ConformanceCheck(
      "a missing folder, or a missing store that must not be created, throws missingStore and"
        + " creates nothing", [.e5], needs: [.writable, .files], missing),
    ConformanceCheck(
      "a file of another kind throws notAStore and is unchanged, byte for byte", [.e5],
      needs: [.writable, .files], anotherKind),
    ConformanceCheck(
      "a store without write permission throws readOnly or accessDenied, and is unchanged", [.e5],
      needs: [.writable, .files], notWritable),
    ConformanceCheck(
      "a store without read permission throws accessDenied", [.e5], needs: [.writable, .files], notReadable),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> StoreUnderTest {
    let store = try context.makeStore(on: .disk)
    let repository = try store.open()
    try repository.save(contentsOf: (1...20).map { Account($0, balance: $0) })
    try repository.save(contentsOf: Person.random(10, seed: 90))
    try repository.close()
    return store
  }

  @Sendable private static func readOnlyOption(_ context: ContextUnderTest) throws {
    let store = try filled(context)
    let repository = try store.open(.readOnly)
    try expect(repository.storage.capabilities.isReadOnly)
    try expect(repository.fetch(Account.self).map(\.id), equals: Array(1...20))
    try expect(repository.filter(Person.self).sorted(by: \.age).result().count, equals: 10)
    try expectError(.readOnly) { try repository.save(Account(1, balance: 0)) }
    try expectError(.readOnly) { try repository.insert(Keyed("new", "model")) }
    try expectError(.readOnly) { try repository.delete(Account(1, balance: 0)) }
    try expectError(.readOnly) { try repository.deleteAll(Account.self) }
    try expectError(.readOnly) { try repository.transaction { try $0.save(Account(1, balance: 0)) } }
    try expectError(.readOnly) { try repository.filter(Account.self).delete() }
    try expect(repository.fetch(Account.self).map(\.balance), equals: Array(1...20))
    try repository.close()
    let writable = try store.open()
    try expect(writable.fetch(Account.self).map(\.balance), equals: Array(1...20))
    try expect(writable.storage.catalog().map(\.name), equals: ["Account", "Person"])
  }

  @Sendable private static func readOnlyBesideWriter(_ context: ContextUnderTest) throws {
    let store = try filled(context)
    let writer = try store.open()
    for balance in [300, 400] {
      try writer.write(Account.self, id: 3) { $0.balance = balance }
      let reader = try store.worker("digest", opening: .readOnly)
      try expect(reader.waitUntilOver() == .success)
      try expect(reader.lines, equals: ["digest \(StoreDigest.of(writer))"])
    }
  }

  @Sendable private static func missing(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let below = StoreUnderTest(context, folder: store.folder.appendingPathComponent("no/such/folder"))
    try expectError(.missingStore) { try below.open() }
    try expectError(.missingStore) { try store.open(.existing) }
    try expectError(.missingStore) { try store.open(.readOnly) }
    try expect(store.contents().isEmpty)
  }

  @Sendable private static func anotherKind(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 91)
    let words = (0..<4096).map { _ in random.next() }
    for content in [
      Data("hello, this is not a store\n".utf8), words.withUnsafeBytes { Data($0) },
      Data(repeating: 0, count: 8192),
    ] {
      let store = try context.makeStore()
      try content.write(to: URL(fileURLWithPath: store.path))
      try expectError(.notAStore) { try store.open() }
      try expectError(.notAStore) { try store.open(.readOnly) }
      try expect(store.contents(), equals: ["store": content])
    }
  }

  @Sendable private static func notWritable(_ context: ContextUnderTest) throws {
    let store = try filled(context)
    let before = try store.contents()
    try permit(store, files: 0o444, folders: 0o555)
    defer { try? permit(store, files: 0o644, folders: 0o755) }
    let writer = try store.worker("unprivileged")
    try expect(writer.waitUntilOver() == .success, "\(writer.lines)")
    // Either opening or writing throws.
    let refusal = writer.lines.last { $0.hasPrefix("open ") || $0.hasPrefix("save ") } ?? ""
    let code = refusal.split(separator: " ").dropFirst().first.map(String.init)
    try expect(
      [PersistenceError.Code.readOnly, .accessDenied].map(\.rawValue).contains(code ?? ""), "\(writer.lines)")
    let reader = try store.worker("unprivileged", opening: .readOnly)
    try expect(reader.waitUntilOver() == .success, "\(reader.lines)")
    // An engine that must write files to read safely throws, and does not read unsafely.
    let isRefused =
      reader.lines.first.map { $0.hasPrefix("open readOnly") || $0.hasPrefix("open accessDenied") } ?? false
    let isRead = reader.lines.contains("count 20") && reader.lines.contains { $0.hasPrefix("save readOnly") }
    try expect(isRefused || isRead, "\(reader.lines)")
    try permit(store, files: 0o644, folders: 0o755)
    let after = try store.contents()
    try expect(after.filter { before[$0.key] != nil }, equals: before)
    try expect(store.open().fetch(Account.self).map(\.balance), equals: Array(1...20))
  }

  @Sendable private static func notReadable(_ context: ContextUnderTest) throws {
    let store = try filled(context)
    try permit(store, files: 0o000, folders: 0o000)
    defer { try? permit(store, files: 0o644, folders: 0o755) }
    for options in [OpeningOptions(), .readOnly] {
      let worker = try store.worker("unprivileged", opening: options)
      try expect(worker.waitUntilOver() == .success, "\(worker.lines)")
      try expect(worker.lines.first?.hasPrefix("open accessDenied") == true, "\(worker.lines)")
    }
    try permit(store, files: 0o644, folders: 0o755)
    try expect(store.open().fetch(Account.self).map(\.balance), equals: Array(1...20))
  }

  /// Sets the permissions of all files of a store, from the inner folders outwards.
  private static func permit(_ store: StoreUnderTest, files: Int, folders: Int) throws {
    let manager = FileManager.default
    // The outer folder comes first, because it may be closed.
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store.folder.path)
    var paths = [store.path]
    if let walk = manager.enumerator(atPath: store.folder.path) {
      for case let name as String in walk { paths.append(store.folder.appendingPathComponent(name).path) }
    }
    for path in Set(paths).sorted().reversed() {
      var isFolder: ObjCBool = false
      guard manager.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
      try manager.setAttributes([.posixPermissions: isFolder.boolValue ? folders : files], ofItemAtPath: path)
    }
    try manager.setAttributes([.posixPermissions: folders | 0o511], ofItemAtPath: store.folder.path)
  }
}
