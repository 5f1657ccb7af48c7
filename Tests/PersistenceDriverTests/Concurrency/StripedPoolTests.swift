import Dispatch
import PersistenceDriver
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("StripedPool")
struct StripedPoolTests {
  private final class Tool: Sendable {
    let users = Atomic<Int>(0)
    let uses = Atomic<Int>(0)
  }

  @Test("C1 concurrent threads never take the same object, and the pool loses none")
  func exclusive() {
    let tools = (0..<3).map { _ in Tool() }
    let pool = StripedPool<Tool>(count: 4)
    for tool in tools { #expect(pool.give(tool) == nil) }
    let clashes = Atomic<Int>(0)
    let misses = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<5_000 {
        guard let tool = pool.take() else {
          misses.add(1, ordering: .relaxed)
          continue
        }
        if tool.users.add(1, ordering: .relaxed).newValue > 1 { clashes.add(1, ordering: .relaxed) }
        tool.uses.add(1, ordering: .relaxed)
        tool.users.subtract(1, ordering: .relaxed)
        if pool.give(tool) != nil { clashes.add(1, ordering: .relaxed) }
      }
    }
    #expect(clashes.load(ordering: .relaxed) == 0)
    let uses = tools.reduce(0) { $0 + $1.uses.load(ordering: .relaxed) }
    #expect(uses + misses.load(ordering: .relaxed) == 40_000)
    #expect(Set(pool.drain().map(ObjectIdentifier.init)) == Set(tools.map(ObjectIdentifier.init)))
  }

  @Test("a thread takes the object that it gave back last")
  func affinity() {
    let pool = StripedPool<Tool>(count: 8)
    let (mine, other) = (Tool(), Tool())
    #expect(pool.give(mine) == nil)
    #expect(pool.give(other) == nil)
    #expect(pool.take() === mine)
    #expect(pool.give(mine) == nil)
    #expect(pool.take() === mine)
  }

  @Test("a full or closed pool returns the object to the caller")
  func full() {
    let pool = StripedPool<Tool>(count: 1)
    let (first, second) = (Tool(), Tool())
    #expect(pool.give(first) == nil)
    #expect(pool.give(second) === second)
    #expect(pool.close().map(ObjectIdentifier.init) == [ObjectIdentifier(first)])
    #expect(pool.isClosed)
    #expect(pool.give(first) === first)
    #expect(pool.take() == nil)
    #expect(StripedPool<Tool>(count: 0).give(first) === first)
  }

  @Test("closing while threads give objects back leaves no object in the pool", arguments: 0..<20)
  func closing(_ round: Int) {
    let pool = StripedPool<Tool>(count: 4)
    let returned = Mutex<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 5) { number in
      if number == 4 {
        let closed = pool.close().count
        returned.withLock { $0 += closed }
        return
      }
      if pool.give(Tool()) != nil { returned.withLock { $0 += 1 } }
    }
    #expect(returned.withLock { $0 } == 4)
    #expect(pool.drain().isEmpty)
  }

  @Test("the pool releases its idle objects when it is deallocated")
  func released() {
    weak var kept: Tool?
    do {
      let pool = StripedPool<Tool>(count: 2)
      let tool = Tool()
      kept = tool
      #expect(pool.give(tool) == nil)
    }
    #expect(kept == nil)
  }
}
