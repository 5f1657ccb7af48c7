import PersistenceCore
import PersistenceDriver

/// Queries all layers concurrently and returns their answers in order of arrival.
final class LayerRace<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time asks
  typealias Outcome = Result<LayeredAnswer<[Object]>?, PersistenceError>

  private let tasks: [Task<Void, Never>]
  private var iterator: AsyncStream<(DataSourceLayer, Outcome)>.AsyncIterator
  private var left: Int

  init(_ core: LayerCore<Object>, _ layerQuery: LayerQuery<Object>) {
    let (stream, continuation) = AsyncStream.makeStream(of: (DataSourceLayer, Outcome).self)
    iterator = stream.makeAsyncIterator()
    // The nearest layer first: layers that answer at once then answer in this order.
    let layers = core.replicas.map(\.layer).reversed() + [core.top]
    left = layers.count
    tasks = layers.map { layer in
      Task {
        do throws(PersistenceError) {
          let answer =
            layer == core.top
            ? try await core.answerFromTop(layerQuery) : try await core.ask(layer, layerQuery)
          continuation.yield((layer, .success(answer)))
        } catch {
          continuation.yield((layer, .failure(error)))
        }
      }
    }
  }

  /// The next answer; nil if all layers have answered or the task is cancelled.
  func next() async -> (DataSourceLayer, Outcome)? {
    guard left > 0, let next = await iterator.next() else { return nil }
    left -= 1
    return next
  }

  /// Cancels the layers that have not answered.
  func stop() { for task in tasks { task.cancel() } }

  deinit { stop() }
}
