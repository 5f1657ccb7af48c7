import Dispatch
import PersistenceDriver
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("Places of threads")
struct ThreadPlacesTests {
  private final class Tool: Sendable {
    let users = Atomic<Int>(0)
    let uses = Atomic<Int>(0)
  }

  @Test("C1: an object that many threads take and give back is used by one at a time, and none is lost")
  func exclusive() {
    let tools = (0..<3).map { _ in Tool() }
    let places = StripedPool<Tool>(count: 4)
    for tool in tools { #expect(places.give(tool) == nil) }
    let clashes = Atomic<Int>(0)
    let misses = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<5_000 {
        guard let tool = places.take() else {
          misses.add(1, ordering: .relaxed)
          continue
        }
        if tool.users.add(1, ordering: .relaxed).newValue > 1 { clashes.add(1, ordering: .relaxed) }
        tool.uses.add(1, ordering: .relaxed)
        tool.users.subtract(1, ordering: .relaxed)
        if places.give(tool) != nil { clashes.add(1, ordering: .relaxed) }
      }
    }
    #expect(clashes.load(ordering: .relaxed) == 0)
    let uses = tools.reduce(0) { $0 + $1.uses.load(ordering: .relaxed) }
    #expect(uses + misses.load(ordering: .relaxed) == 40_000)
    #expect(Set(places.drain().map(ObjectIdentifier.init)) == Set(tools.map(ObjectIdentifier.init)))
  }

  @Test("a thread finds again what it gave back")
  func affinity() {
    let places = StripedPool<Tool>(count: 8)
    let (mine, other) = (Tool(), Tool())
    #expect(places.give(mine) == nil)
    #expect(places.give(other) == nil)
    #expect(places.take() === mine)
    #expect(places.give(mine) == nil)
    #expect(places.take() === mine)
  }

  @Test("what finds no place comes back, and what is given after closing does too")
  func full() {
    let places = StripedPool<Tool>(count: 1)
    let (first, second) = (Tool(), Tool())
    #expect(places.give(first) == nil)
    #expect(places.give(second) === second)
    #expect(places.close().map(ObjectIdentifier.init) == [ObjectIdentifier(first)])
    #expect(places.isClosed)
    #expect(places.give(first) === first)
    #expect(places.take() == nil)
    #expect(StripedPool<Tool>(count: 0).give(first) === first)
  }

  @Test("while many threads give back, closing leaves nothing behind", arguments: 0..<20)
  func closing(_ round: Int) {
    let places = StripedPool<Tool>(count: 4)
    let returned = Mutex<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 5) { number in
      if number == 4 {
        let closed = places.close().count
        returned.withLock { $0 += closed }
        return
      }
      if places.give(Tool()) != nil { returned.withLock { $0 += 1 } }
    }
    #expect(returned.withLock { $0 } == 4)
    #expect(places.drain().isEmpty)
  }

  @Test("objects that are still there go with the places")
  func released() {
    weak var kept: Tool?
    do {
      let places = StripedPool<Tool>(count: 2)
      let tool = Tool()
      kept = tool
      #expect(places.give(tool) == nil)
    }
    #expect(kept == nil)
  }
}
