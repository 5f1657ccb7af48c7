import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Testing

/// Every plan of every request returns the memory context's rows, on LMDB and on a store that cuts many keys.
///
/// With `PERSISTENCE_SOAK` set, forty programs run on each store instead of one, or as many as it says.
@Suite("All plans return the same rows")
struct PlanEqualityTests {
  private static let programs =
    ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"].map { max(Int($0) ?? 0, 40) } ?? 1

  @Test(
    "R2 O2 O4 W4 every plan returns the rows of the memory context, in the same order",
    arguments: [(11, 128), (12, 160), (13, 511)] as [(UInt64, Int)])
  func arrays(seed: UInt64, longestKey: Int) throws {
    for number in 0..<Self.programs {
      let store = ArrayPlanStore(longestKey: longestKey)
      try run(try PlanProgram(seed: seed + 100 * UInt64(number), store))
      let cut = store.bytes.nodes(.indexes).filter { $0.key.count == longestKey }
      #expect(longestKey > 200 || cut.count > 20, "the test no longer covers cut keys")
    }
  }

  @Test("R2 O2 O4 W4 every plan returns the rows of the memory context, on LMDB")
  func lmdb() throws {
    for number in 0..<Self.programs {
      try run(try PlanProgram(seed: 14 + 100 * UInt64(number), try LMDBPlanStore()))
    }
  }

  private func run(_ program: PlanProgram) throws {
    for _ in 0..<2 {
      try program.change(120)
      try program.ask(12)
      try program.changeByPlans(1)
    }
    #expect(program.plans > 200)
  }
}
