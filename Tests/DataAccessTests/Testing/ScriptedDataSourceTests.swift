import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Scripted data source")
struct ScriptedDataSourceTests {
  private let gone = PersistenceError(.unreachable, "gone")

  @Test("each operation takes its answers in order, and then the default answer")
  func order() async throws {
    let source = try ScriptedDataSource([Note(1), Note(2)])
    source.script(.failure(gone), .genuine, for: .find)
    source.answerOtherwise(.failure(PersistenceError(.busy, "later")))
    await #expect(throws: PersistenceError.self) { try await source.find(1) }
    #expect(try await source.find(1) == Note(1))
    let error = await #expect(throws: PersistenceError.self) { try await source.find(1) }
    #expect(error?.code == .busy)
    #expect(source.calls.map(\.operation) == [.find, .find, .find])
    #expect(source.calls.map(\.outcome) == [.failed(.unreachable), .answered, .failed(.busy)])
  }

  @Test("a lost answer has taken effect, and a failure has not")
  func lost() async throws {
    let source = try ScriptedDataSource<Note>()
    source.script(.lost(gone), .failure(gone), for: .insert)
    await #expect(throws: PersistenceError.self) { try await source.insert(Note(1)) }
    await #expect(throws: PersistenceError.self) { try await source.insert(Note(2)) }
    #expect(try await source.execute(FetchOptions()) == [Note(1)])
  }

  @Test("delays use the clock, and a hanging call ends when its task is cancelled")
  func waiting() async throws {
    let clock = TestClock()
    let source = try ScriptedDataSource([Note(1)], clock: clock)
    source.script(.genuine.after(.seconds(3)), .hangs, for: .find)
    let slow = Task { try await source.find(1) }
    await clock.sleepers(1)
    clock.advance(by: .seconds(3))
    #expect(try await slow.value == Note(1))
    let hanging = Task { try await source.find(1) }
    await source.calls { $0.count == 2 }
    hanging.cancel()
    let error = await #expect(throws: PersistenceError.self) { try await hanging.value }
    #expect(error?.code == .cancelled)
  }

  @Test("pages can be partial and then fail")
  func partial() async throws {
    let source = try ScriptedDataSource((0..<10).map { Note($0) })
    source.script(.genuine, .partial(2, then: gone), for: .page)
    var found: [Int] = []
    let error = await #expect(throws: PersistenceError.self) {
      for try await page in source.filter().pages(of: 4) { found += page.map(\.id) }
    }
    #expect(error?.code == .unreachable)
    #expect(found == [0, 1, 2, 3, 4, 5])
  }

  @Test("a partial answer can span several pages, and is one answer of the script")
  func partialPages() async throws {
    let source = try ScriptedDataSource((0..<10).map { Note($0) })
    source.script(.partial(5, then: gone), for: .page)
    source.script(.genuine, for: .page)
    func pages() async -> (found: [[Int]], code: PersistenceError.Code?) {
      var found: [[Int]] = []
      do {
        for try await page in source.filter().pages(of: 2) { found.append(page.map(\.id)) }
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
