import DataAccess
import PersistenceCore
import Synchronization

/// Returns the pages of a data source as a script permits.
final class ScriptedPager<Object: PersistentRecord>: Sendable {
  private let source: ScriptedDataSource<Object>
  private let pages: SequenceIterator<DataSourcePages<Object, PersistenceError>>
  /// The rest of an answer that fails after a number of objects.
  private let rest = Mutex<ScriptedAnswer?>(nil)

  init(_ source: ScriptedDataSource<Object>, _ query: FetchOptions<Object>, size: Int) {
    self.source = source
    pages = SequenceIterator(source.wrapped.pages(query, size: size))
  }

  @Sendable
  func next() async throws(PersistenceError) -> [Object]? {
    let (call, answer) = source.begin(.page, with: rest.withLock(\.self))
    do {
      try await source.wait(for: answer)
      let page = try await page(answer)
      source.end(call, .answered)
      return page
    } catch {
      let error = PersistenceError(scripted: error)
      source.end(call, .failed(error.code))
      throw error
    }
  }

  private func page(_ answer: ScriptedAnswer) async throws -> [Object]? {
    switch answer.outcome {
    case .genuine: return try await pages.next()
    case .truncated(let count): return try await pages.next().map { Array($0.prefix(count)) }
    case .failure(let error): throw error
    case .lost(let error):
      _ = try await pages.next()
      throw error
    case .partial(let count, let error):
      rest.withLock { $0 = .partial(0, then: error) }
      guard count > 0, let page = try await pages.next() else { throw error }
      rest.withLock { $0 = .partial(max(0, count - page.count), then: error) }
      return Array(page.prefix(count))
    case .hangs: throw CancellationError()
    }
  }
}
