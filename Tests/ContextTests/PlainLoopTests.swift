import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Plain for loops over unreadable records")
struct PlainLoopTests {
  #if os(Linux) || os(macOS)
    @Test("R4 without a handler, a plain for loop stops the program with the error's message")
    func stops() async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let inner = Repository(MemoryContext())
        try inner.save(contentsOf: (1...400).map { Account($0, balance: $0) })
        let observed = ObservedContext(try inner.storage)
        let result = try Repository(observed).filter(Account.self).result()
        observed.fail(afterRows: 200, with: .damaged("page 900 is damaged"))
        for _ in result {}
      }
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("page 900 is damaged") && message.contains("model Account"))
    }
  #endif
}
