import Foundation
import PersistenceDriver
import Testing
import PersistenceDriverSupport

/// URLs of stores, their options, and the engines that they name.
struct StoreURLTests {
  @Test(
    "a URL is a scheme, a path and options",
    arguments: [
      ("sqlite:movies.sqlite", "sqlite", "movies.sqlite", 0), ("SQLite:/var/x?a=1&b=", "sqlite", "/var/x", 2),
      ("sqlite:///var/x", "sqlite", "/var/x", 0), ("lmdb://x/y", "lmdb", "x/y", 0),
      ("memory:", "memory", "", 0),
      ("json:/%2Fa", "json", "//a", 0), ("json:%2F/a", "json", "//a", 0),
      ("x:a?b%3Dc=1%26d&e=%25&f=g=h", "x", "a", 3), ("x:a?%C3%A9=a%20b%2B", "x", "a", 1),
      ("json:a%20b%3Fc", "json", "a b?c", 0), ("json:é/ö", "json", "é/ö", 0),
    ])
  func parsing(text: String, scheme: String, path: String, options: Int) throws {
    let url = try StoreURL(text)
    #expect(url.scheme == scheme)
    #expect(url.path == path)
    #expect(url.options.count == options)
    #expect(try StoreURL("\(url)") == url)
  }

  @Test(
    "a malformed URL is rejected",
    arguments: ["", "movies", ":x", "a b:c", "x:a%zz", "x:a?b", "x:a?b=1&b=2", "x:a%00b", "é:x", "x:a?=1"])
  func malformed(text: String) {
    #expect { try StoreURL(text) } throws: { ($0 as? PersistenceError)?.code == .invalidURL }
  }

  @Test("messages never show secrets in URLs")
  func redaction() throws {
    #expect(
      StoreURL.redacted("postgres://me:secret@host/db?password=p&x=1")
        == "postgres://***@host/db?password=***&x=1")
    for (text, shown) in [
      ("x://u:p/w@host", "x://***@host"), ("x://u:p?w@host/db?token=t", "x://***@host/db?token=***"),
      ("x://u:p@q@host", "x://***@host"), ("sqlite:///var/a@2/x.sqlite", "sqlite:///var/a@2/x.sqlite"),
    ] { #expect(StoreURL.redacted(text) == shown) }
    let error = #expect(throws: PersistenceError.self) {
      try StorageEngine.open("postgres://me:secret@host/db", engines: [], monitoring: Monitoring())
    }
    #expect(error.map { !"\($0)".contains("secret") } == true)
  }

  static let engine = StorageEngine(
    scheme: "test",
    options: [
      StoreOption("mode", .choice(["a", "b"]), "a choice"), StoreOption("on", .flag, "a flag"),
      StoreOption("n", .integer(1...9), "a number"), StoreOption("size", .bytes(0...(1 << 40)), "a size"),
      StoreOption("wait", .duration, "a time"),
    ]
  ) { _, options, _ in
    guard options["mode"] == "b", options.flag("on") == true, options.integer("n") == 3,
      options.bytes("size") == 2 << 20, options.duration("wait") == .milliseconds(1500)
    else { throw PersistenceError(.unsupported, "options were lost") }
    return MemoryContext()
  }

  @Test("an engine gets its options, and a third-party engine is opened like any other")
  func options() throws {
    _ = try StorageEngine.open(
      "test:x?mode=b&on=true&n=3&size=2MiB&wait=1500ms", engines: [Self.engine], monitoring: Monitoring())
  }

  @Test(
    "an unknown scheme, option or value is an error that lists the known ones",
    arguments: [
      ("nope:x", "memory:, test:"), ("test:x?colour=1", "mode, on, n, size, wait"), ("test:x?mode=c", "a, b"),
      ("test:x?on=yes", "true, false"), ("test:x?n=10", "from 1 to 9"), ("test:x?size=2TB", "KiB"),
      ("test:x?wait=soon", "500ms"), ("memory:?x=1", "busy"), ("memory:path", "no path"),
    ])
  func unknown(text: String, hint: String) {
    #expect { try StorageEngine.open(text, engines: [Self.engine], monitoring: Monitoring()) } throws: {
      guard let error = $0 as? PersistenceError else { return false }
      return error.code == .invalidURL && "\(error)".contains(hint)
    }
  }

  @Test("two engines with one scheme are rejected")
  func ambiguous() {
    #expect(throws: PersistenceError.self) {
      try StorageEngine.open("test:x", engines: [Self.engine, Self.engine], monitoring: Monitoring())
    }
  }

  @Test("a separator counts even if a combining scalar follows it")
  func combining() throws {
    let url = try StoreURL("sqlite://\u{301}a?\u{301}b=\u{302}c&\u{303}d=e")
    #expect(url.path.utf8.elementsEqual("\u{301}a".utf8))
    #expect(url.options.map { "\($0.key)|\($0.value)" }.sorted() == ["\u{301}b|\u{302}c", "\u{303}d|e"])
    #expect(try StoreURL("sqlite:///\u{301}a").path.utf8.elementsEqual("/\u{301}a".utf8))
    #expect(try StoreURL("sqlite:\u{301}a").scheme == "sqlite")
    #expect(!StoreURL.redacted("http://u:p@\u{301}h?\u{301}token=\u{301}x").contains("p@"))
    #expect(!StoreURL.redacted("http://h?\u{301}token=\u{301}x&a=b").contains("x"))
  }
}
