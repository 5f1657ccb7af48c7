import OurContexts
import PersistenceConformance
import Testing

@Suite("Thorough faults")
struct ThoroughFaultTests {
  /// A sample of failures, as other tests take it, did not show that an LMDB store whose folder could not be synchronized at
  /// its creation looked damaged after a loss of power.
  @Test("W5 E5 each synchronization of an LMDB store may fail, and the power may fail after it")
  func synchronizations() async throws {
    let check = try #require(
      ConformanceCheck.all.first { $0.title.hasPrefix("a failed synchronization is not believed") })
    var context = try #require(ContextUnderTest.ours.first { $0.name == "lmdb" })
    context.effort = .thorough
    let counts = try await check.work(on: context).counts
    #expect(counts.values.reduce(0, +) > 10)
  }
}
