import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("E5: media that refuse", .serialized)
struct MediumTests {
  private func filled(_ context: ContextUnderTest) throws -> StoreUnderTest {
    let store = try context.makeStore(on: .disk)
    let repository = try store.open()
    try repository.save(contentsOf: (1...20).map { Account($0, balance: $0) })
    try repository.save(contentsOf: Person.random(10, seed: 90))
    try repository.close()
    return store
  }

  @Test(
    "E5 a store that is opened for reading only is read, and refuses every write with readOnly",
    arguments: ContextUnderTest.durable("E5 reading only"))
  func readOnlyOption(context: ContextUnderTest) throws {
    let store = try filled(context)
    let repository = try store.open(["readonly": "true"])
    #expect(try repository.storage.capabilities.isReadOnly)
    #expect(try repository.fetch(Account.self).map(\.id) == Array(1...20))
    #expect(try repository.filter(Person.self).sorted(by: \.age).result().count == 10)
    expectError(.readOnly) { try repository.save(Account(1, balance: 0)) }
    expectError(.readOnly) { try repository.insert(Keyed("new", "model")) }
    expectError(.readOnly) { try repository.delete(Account(1, balance: 0)) }
    expectError(.readOnly) { try repository.deleteAll(Account.self) }
    expectError(.readOnly) { try repository.transaction { try $0.save(Account(1, balance: 0)) } }
    expectError(.readOnly) { try repository.filter(Account.self).delete() }
    #expect(try repository.fetch(Account.self).map(\.balance) == Array(1...20))
    try repository.close()
    let writable = try store.open()
    #expect(try writable.fetch(Account.self).map(\.balance) == Array(1...20))
    #expect(try writable.storage.catalog().map(\.name) == ["Account", "Person"])
  }

  @Test(
    "E5 C2 a process that may only read sees what another one has written",
    arguments: ContextUnderTest.multiProcess("E5 reading only beside a writer"))
  func readOnlyBesideWriter(context: ContextUnderTest) throws {
    let store = try filled(context)
    let writer = try store.open()
    for balance in [300, 400] {
      try writer.write(Account.self, id: 3) { $0.balance = balance }
      let reader = try WorkerProcess(["digest", store.url(["readonly": "true"])])
      #expect(reader.waitUntilOver() == .success)
      #expect(try reader.lines == ["digest \(StoreDigest.of(writer))"])
    }
  }

  @Test(
    "E5 a missing folder, and a missing store that is not to be made, are missingStore, and nothing is made",
    arguments: ContextUnderTest.durable("E5 missing stores"))
  func missing(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let below = StoreUnderTest(context, folder: store.folder.appendingPathComponent("no/such/folder"))
    expectError(.missingStore) { try below.open() }
    expectError(.missingStore) { try store.open(["create": "false"]) }
    expectError(.missingStore) { try store.open(["readonly": "true"]) }
    #expect(try store.contents().isEmpty)
  }

  @Test(
    "E5 a file of another kind is notAStore, and keeps every byte",
    arguments: ContextUnderTest.durable("E5 other files"))
  func anotherKind(context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 91)
    let words = (0..<4096).map { _ in random.next() }
    for content in [
      Data("hello, this is no store\n".utf8), words.withUnsafeBytes { Data($0) },
      Data(repeating: 0, count: 8192),
    ] {
      let store = try context.makeStore()
      try content.write(to: URL(fileURLWithPath: store.path))
      expectError(.notAStore) { try store.open() }
      expectError(.notAStore) { try store.open(["readonly": "true"]) }
      #expect(try store.contents() == ["store": content])
    }
  }

  @Test(
    "E5 a store of another engine is notAStore, and keeps every byte",
    arguments: ContextUnderTest.durable("E5 other engines"))
  func anotherEngine(context: ContextUnderTest) throws {
    for other in ContextUnderTest.all where other.name != context.name && other.engine != nil {
      let store = try filled(other)
      let before = try store.contents()
      expectError(.notAStore, "\(context) at a store of \(other)") {
        try StoreUnderTest(context, folder: store.folder).open()
      }
      #expect(try store.contents().keys.sorted() == before.keys.sorted(), "\(context) at a store of \(other)")
      let repository = try store.open()
      #expect(try repository.fetch(Account.self).map(\.balance) == Array(1...20))
      try repository.close()
    }
  }

  @Test(
    "E5 a store that somebody may not write is readOnly or accessDenied; what is there stays",
    arguments: ContextUnderTest.durable("E5 permissions"))
  func notWritable(context: ContextUnderTest) throws {
    let store = try filled(context)
    let before = try store.contents()
    try permit(store, files: 0o444, folders: 0o555)
    defer { try? permit(store, files: 0o644, folders: 0o755) }
    let writer = try WorkerProcess(["unprivileged", store.url()])
    #expect(writer.waitUntilOver() == .success, "\(writer.lines)")
    // Either opening refuses, or writing does.
    let refusal = writer.lines.last { $0.hasPrefix("open ") || $0.hasPrefix("save ") } ?? ""
    let code = refusal.split(separator: " ").dropFirst().first.map(String.init)
    #expect(
      [PersistenceError.Code.readOnly, .accessDenied].map(\.rawValue).contains(code ?? ""), "\(writer.lines)")
    let reader = try WorkerProcess(["unprivileged", store.url(["readonly": "true"])])
    #expect(reader.waitUntilOver() == .success, "\(reader.lines)")
    // An engine that must write beside its store to read it safely says so; it does not read it unsafely.
    let isRefused =
      reader.lines.first.map { $0.hasPrefix("open readOnly") || $0.hasPrefix("open accessDenied") } ?? false
    let isRead = reader.lines.contains("count 20") && reader.lines.contains { $0.hasPrefix("save readOnly") }
    #expect(isRefused || isRead, "\(reader.lines)")
    try permit(store, files: 0o644, folders: 0o755)
    let after = try store.contents()
    #expect(after.filter { before[$0.key] != nil } == before)
    #expect(try store.open().fetch(Account.self).map(\.balance) == Array(1...20))
  }

  @Test(
    "E5 a store that somebody may not even read is accessDenied",
    arguments: ContextUnderTest.durable("E5 permissions"))
  func notReadable(context: ContextUnderTest) throws {
    let store = try filled(context)
    try permit(store, files: 0o000, folders: 0o000)
    defer { try? permit(store, files: 0o644, folders: 0o755) }
    for options in [[:], ["readonly": "true"]] {
      let worker = try WorkerProcess(["unprivileged", store.url(options)])
      #expect(worker.waitUntilOver() == .success, "\(worker.lines)")
      #expect(worker.lines.first?.hasPrefix("open accessDenied") == true, "\(worker.lines)")
    }
    try permit(store, files: 0o644, folders: 0o755)
    #expect(try store.open().fetch(Account.self).map(\.balance) == Array(1...20))
  }

  /// Sets the permissions of everything in a store, folders from the inside outwards.
  private func permit(_ store: StoreUnderTest, files: Int, folders: Int) throws {
    let manager = FileManager.default
    // The way in first, where it may be closed.
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
