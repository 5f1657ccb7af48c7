import PersistenceCore
import PersistenceDriver

/// All layers, asked side by side; their answers in the order in which they come.
final class LayerRace<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time asks
  typealias Outcome = Result<LayeredAnswer<[Object]>?, PersistenceError>

  private let tasks: [Task<Void, Never>]
  private var iterator: AsyncStream<(DataSourceLayer, Outcome)>.AsyncIterator
  private var left: Int

  init(_ core: LayerCore<Object>, _ question: LayerQuery<Object>) {
    let (stream, continuation) = AsyncStream.makeStream(of: (DataSourceLayer, Outcome).self)
    iterator = stream.makeAsyncIterator()
    // The nearest first: where layers answer at once, that is the order in which they do.
    let layers = core.below.map(\.layer).reversed() + [core.top]
    left = layers.count
    tasks = layers.map { layer in
      Task {
        do throws(PersistenceError) {
          let answer =
            layer == core.top ? try await core.askTop(question) : try await core.ask(layer, question)
          continuation.yield((layer, .success(answer)))
        } catch {
          continuation.yield((layer, .failure(error)))
        }
      }
    }
  }

  /// The next answer; nil where all have answered, or the task that asks is cancelled.
  func next() async -> (DataSourceLayer, Outcome)? {
    guard left > 0, let next = await iterator.next() else { return nil }
    left -= 1
    return next
  }

  /// Cancels those that have not answered.
  func stop() { for task in tasks { task.cancel() } }

  deinit { stop() }
}
