import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

/// Every plan of every request gives what the memory context gives, on LMDB and on a store whose keys are so short
/// that many are cut.
///
/// With `PERSISTENCE_SOAK` set, forty programs are run on each store instead of one, or as many as it says.
@Suite("Plans against the plain scan")
struct PlanEqualityTests {
  private static let programs =
    ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"].map { max(Int($0) ?? 0, 40) } ?? 1

  @Test(
    "R2 O2 O4 W4 every plan gives the rows of the plain scan, in the same order",
    arguments: [(11, 128), (12, 160), (13, 511)] as [(UInt64, Int)])
  func arrays(seed: UInt64, longestKey: Int) throws {
    for number in 0..<Self.programs {
      let store = ArrayPlanStore(longestKey: longestKey)
      try run(try PlanProgram(seed: seed + 100 * UInt64(number), store))
      let cut = store.bytes.nodes(.indexes).filter { $0.key.count == longestKey }
      #expect(longestKey > 200 || cut.count > 20, "the test has lost its point")
    }
  }

  @Test("R2 O2 O4 W4 every plan gives the rows of the plain scan, on LMDB")
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
