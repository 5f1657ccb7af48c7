import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Stores of another engine")
struct EnginePairTests {
  @Test(
    "E5 opening another engine's store throws notAStore and changes no file", arguments: ContextUnderTest.ours
  )
  func anotherEngine(context: ContextUnderTest) throws {
    guard try context.capabilities().hasFiles else { return }
    for other in ContextUnderTest.ours where other.name != context.name {
      guard try other.capabilities().hasFiles else { continue }
      try other.withScratch { other in
        let store = try other.makeStore()
        let first = try store.open()
        try first.save(contentsOf: (1...20).map { Account($0, balance: $0) })
        try first.close()
        let before = try store.contents()
        let error = #expect(throws: PersistenceError.self, "\(context) with a store of \(other)") {
          try StoreUnderTest(context, folder: store.folder).open()
        }
        #expect(error?.code == .notAStore, "\(context) with a store of \(other)")
        #expect(
          try store.contents().keys.sorted() == before.keys.sorted(), "\(context) with a store of \(other)")
        let again = try store.open()
        #expect(try again.fetch(Account.self).map(\.balance) == Array(1...20))
        try again.close()
      }
    }
  }
}
