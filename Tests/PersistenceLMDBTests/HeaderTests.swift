import Foundation
import PersistenceDriver
import Synchronization
import Testing

@testable import PersistenceLMDB

@Suite("The first pages of a data file")
struct HeaderTests {
  @Test(
    "C2 a file that another one writes to and makes longer, while they are read, is not taken for a damaged one"
  )
  func readBesideWriter() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    let isOver = Atomic(false)
    let failure = Mutex<String?>(nil)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      while !isOver.load(ordering: .relaxed) {
        do {
          _ = try LMDBHeader.read(scratch.data.path)
        } catch {
          return failure.withLock { $0 = "\(error)" }
        }
      }
    }
    let text = String(repeating: "x", count: 30_000)
    for number in 0..<400 { try context.save([("\(number)", text)], schema) }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    try context.close()
    #expect(failure.withLock { $0 } == nil)
  }
}
