public import PersistenceCore
import PersistenceDriver

/// Answers that come one after another, each better than the one before; what is asked is asked when the first is.
public struct LayeredAnswers<Value: Sendable>: AsyncSequence, Sendable {
  /// Gives the next answer; nil at the end.
  typealias Next = @Sendable () async throws(PersistenceError) -> LayeredAnswer<Value>?

  private let begin: @Sendable () -> Next

  init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Walks the answers; the layers that have not answered are cancelled when it is released.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let answer: Next

    init(_ answer: @escaping Next) { self.answer = answer }

    /// The next answer; nil at the end.
    ///
    /// - Throws: ``PersistenceError`` after the last answer, where the store that decides did not give it.
    public mutating func next() async throws(PersistenceError) -> LayeredAnswer<Value>? { try await answer() }

    /// The next answer, on behalf of an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> LayeredAnswer<Value>?
    {
      try await answer()
    }
  }

  /// Asks the layers, once the first answer is asked for.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }
}

/// A walk through the better and better answers of layers.
final class AnswerWalk<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time asks
  private let core: LayerCore<Object>
  private let question: LayerQuery<Object>
  private var race: LayerRace<Object>?
  private var last: LayeredAnswer<[Object]>?
  private var failures: [LayerFailure] = []
  private var lacking: [DataSourceLayer] = []
  private var isOver = false

  init(_ core: LayerCore<Object>, _ question: LayerQuery<Object>) {
    (self.core, self.question) = (core, question)
  }

  func next() async throws(PersistenceError) -> LayeredAnswer<[Object]>? {
    if isOver { return nil }
    let race = race ?? LayerRace(core, question)
    self.race = race
    while let (layer, outcome) = await race.next() {
      switch outcome {
      case .success(let answer?):
        if let answer = try caught({ try better(answer) }) { return answer }
      case .success(nil): lacking.append(layer)
      case .failure(let error): failures.append(LayerFailure(layer, error))
      }
    }
    isOver = true
    self.race = nil
    if Task.isCancelled { throw .cancelled() }
    guard let failure = failures.first(where: { $0.layer == core.top }) else { return nil }
    guard last == nil, failure.error.allowsFallback else { throw failure.error }
    // Nothing was whole: what there is comes last, and the next call says what kept the rest away.
    let answer = try await core.incomplete(question, failures, lacking)
    isOver = false
    last = answer
    self.race = race
    return answer
  }

  /// The answer, if it is of a better layer than the last one, and another one.
  private func better(_ answer: LayeredAnswer<[Object]>) throws -> LayeredAnswer<[Object]>? {
    var answer = answer
    guard let last else {
      answer.failures += failures
      self.last = answer
      return answer
    }
    guard Self.rank(answer.source) > Self.rank(last.source) else { return nil }
    self.last = answer
    if try Self.isSame(answer.value, last.value) { return nil }
    answer.failures += failures
    return answer
  }

  private static func rank(_ layer: DataSourceLayer) -> Int {
    DataSourceLayer.allCases.firstIndex(of: layer) ?? 0
  }

  private static func isSame(_ left: [Object], _ right: [Object]) throws -> Bool {
    guard left.count == right.count else { return false }
    return try zip(left, right).allSatisfy { try $0.hasSameFields(as: $1) }
  }
}
