import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("A scripted store")
struct ScriptedDataSourceTests {
  private let gone = PersistenceError(.unreachable, "gone")

  @Test("answers are taken in order, for each kind of operation; the rest is as was set for all")
  func order() async throws {
    let store = try ScriptedDataSource([Note(1), Note(2)])
    store.script(.failure(gone), .genuine, for: .find)
    store.answerOtherwise(.failure(PersistenceError(.busy, "later")))
    await #expect(throws: PersistenceError.self) { try await store.find(1) }
    #expect(try await store.find(1) == Note(1))
    let error = await #expect(throws: PersistenceError.self) { try await store.find(1) }
    #expect(error?.code == .busy)
    #expect(store.calls.map(\.operation) == [.find, .find, .find])
    #expect(store.calls.map(\.outcome) == [.failed(.unreachable), .answered, .failed(.busy)])
  }

  @Test("a lost answer is of something done, a failure of something not done")
  func lost() async throws {
    let store = try ScriptedDataSource<Note>()
    store.script(.lost(gone), .failure(gone), for: .insert)
    await #expect(throws: PersistenceError.self) { try await store.insert(Note(1)) }
    await #expect(throws: PersistenceError.self) { try await store.insert(Note(2)) }
    #expect(try await store.execute(FetchOptions()) == [Note(1)])
  }

  @Test("delays pass on the clock; what hangs ends when its task is cancelled")
  func waiting() async throws {
    let clock = TestClock()
    let store = try ScriptedDataSource([Note(1)], clock: clock)
    store.script(.genuine.after(.seconds(3)), .hangs, for: .find)
    let slow = Task { try await store.find(1) }
    await clock.sleepers(1)
    clock.advance(by: .seconds(3))
    #expect(try await slow.value == Note(1))
    let hanging = Task { try await store.find(1) }
    await store.calls { $0.count == 2 }
    hanging.cancel()
    let error = await #expect(throws: PersistenceError.self) { try await hanging.value }
    #expect(error?.code == .cancelled)
  }

  @Test("pages come in part, and then break off")
  func partial() async throws {
    let store = try ScriptedDataSource((0..<10).map { Note($0) })
    store.script(.genuine, .partial(2, then: gone), for: .page)
    var found: [Int] = []
    let error = await #expect(throws: PersistenceError.self) {
      for try await page in store.filter().pages(of: 4) { found += page.map(\.id) }
    }
    #expect(error?.code == .unreachable)
    #expect(found == [0, 1, 2, 3, 4, 5])
  }

  @Test("an answer in part may take several pages, and is one answer of the script")
  func partialPages() async throws {
    let store = try ScriptedDataSource((0..<10).map { Note($0) })
    store.script(.partial(5, then: gone), for: .page)
    store.script(.genuine, for: .page)
    func pages() async -> (found: [[Int]], code: PersistenceError.Code?) {
      var found: [[Int]] = []
      do {
        for try await page in store.filter().pages(of: 2) { found.append(page.map(\.id)) }
      } catch {
        return (found, error.code)
      }
      return (found, nil)
    }
    let first = await pages()
    #expect(first.found == [[0, 1], [2, 3], [4]])
    #expect(first.code == .unreachable)
    let second = await pages()
    #expect(second.found == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
    #expect(second.code == nil)
  }
}
