import Logging
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Wrappers")
struct WrapperTests {
  @Test(
    "a logging context logs calls and outcomes at debug level, and values at trace level only",
    arguments: [Logger.Level.info, .debug, .trace])
  func levels(level: Logger.Level) throws {
    let log = LogRecorder()
    let repository = Repository(LoggingContext(MemoryContext(), logger: log.logger(level)))
    var person = Person("secret-key")
    person.email = "secret-address"
    try repository.insert(person)
    #expect(throws: PersistenceError.self) { try repository.insert(person) }
    #expect(try repository.filter(Person.self, where: \.email == "secret-address").result().count == 1)
    #expect(try repository.find(Person.self, id: "secret-key") != nil)
    let text = log.lines().joined(separator: "\n")
    #expect(text.isEmpty == (level == .info))
    #expect(text.contains("secret") == (level == .trace), "\(text)")
    guard level != .info else { return }
    #expect(text.contains("insert Person") && text.contains("failed: duplicateKey"), "\(text)")
    #expect(text.contains("find Person by key") && text.contains("1 rows"), "\(text)")
  }

  @Test("R1a a wrapper and its wrapped context reject each other's use inside a transaction")
  func insideTransaction() throws {
    let inner = MemoryContext()
    let pair = [Repository(inner), Repository(LoggingContext(inner))]
    try pair[0].save(Account(1, balance: 1))
    for (first, second) in [(pair[0], pair[1]), (pair[1], pair[0])] {
      try first.transaction { _ in
        for use in [{ _ = try second.count(Account.self) }, { try second.save(Account(1, balance: 2)) }] {
          let error = #expect(throws: PersistenceError.self) { try use() }
          #expect(error?.code == .insideTransaction)
        }
      }
    }
    #expect(try pair[0].find(Account.self, id: 1)?.balance == 1)
  }
}
