import Foundation
import PersistenceCore
import PersistenceDriver

extension LayerCore {
  typealias Answer = LayeredAnswer<[Object]>

  // MARK: One layer

  /// Asks the layer that decides, and refreshes those below with its answer.
  func askTop(_ question: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    if below.isEmpty {
      let objects = try await askTopOnly(question)
      return Answer(objects, from: top, age: .zero)
    }
    // Begun before the outbox is looked at: what is put into it from now on is younger than the answer.
    let reading = writes.beginReading(isOfTop: true)
    defer { writes.end(reading) }
    var marks: [LayerMark?] = []
    var failures: [LayerFailure] = []
    for (layer, holder) in below {
      do throws(PersistenceError) {
        marks.append(
          try await attempts(layer).run { () async throws(PersistenceError) in try await holder.mark() })
      } catch {
        marks.append(nil)
        failures.append(LayerFailure(layer, error))
      }
    }
    try await sendWaiting()
    let asOf = options.now()
    let objects = try await askTopOnly(question)
    writes.note(reading, of: question.key)
    for (number, part) in below.enumerated() {
      guard let mark = marks[number] else { continue }
      let refresh = Refresh(
        question.answered(by: topStore), objects, asOf: asOf, mark: mark, reading, in: writes)
      if let failure = await self.refresh(part.layer, part.holder, with: refresh) { failures.append(failure) }
    }
    return Answer(objects, from: top, age: .zero, failures: failures)
  }

  /// Sends what waits in the outbox: while own writes wait, the remote store's answer would lack them.
  private func sendWaiting() async throws(PersistenceError) {
    guard let outbox, try await outbox.count() > 0 else { return }
    let sender = outbox.sender
    try await attempts(top).once { () async throws(PersistenceError) in
      try await sender.sendAll(on: .read)
    }
  }

  private func askTopOnly(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    let store = topStore
    return try await attempts(top).run { () async throws(PersistenceError) in try await question.ask(store) }
  }

  private func refresh(
    _ layer: DataSourceLayer, _ holder: any ReplicaLayer<Object>, with refresh: Refresh<Object>
  ) async -> LayerFailure? {
    do throws(PersistenceError) {
      try await attempts(layer).run { () async throws(PersistenceError) in try await holder.refresh(refresh) }
      return nil
    } catch {
      return LayerFailure(layer, error)
    }
  }

  /// Asks a layer below; nil where it does not hold all of what is asked for, or not for sure.
  func ask(_ layer: DataSourceLayer, _ question: LayerQuery<Object>) async throws(PersistenceError) -> Answer?
  {
    guard let holder = holder(layer) else { return nil }
    // Asked before the layer is, so that a write in between is not taken for something older.
    let reading = writes.beginReading(isOfTop: false)
    defer { writes.end(reading) }
    let cache = layer == .cache ? nil : self.cache
    let mark = try await cache?.mark()
    let held = try await attempts(layer).run { () async throws(PersistenceError) in
      try await holder.answer(question)
    }
    guard let held else { return nil }
    if let cache, let mark, let asOf = held.asOf {
      // What the cache did not know it knows from now on, as old as it is.
      let refresh = Refresh(question, held.objects, asOf: asOf, mark: mark, reading, in: writes)
      if try cache.answerNow(question) == nil { try await cache.refresh(refresh) }
    }
    return Answer(held.objects, from: layer, age: age(of: held.asOf))
  }

  /// The answer of a cache that needs no waiting, where it is good.
  func askCacheNow(_ question: LayerQuery<Object>) throws(PersistenceError) -> Answer? {
    guard let cache, let held = try cache.answerNow(question) else { return nil }
    let answer = Answer(held.objects, from: .cache, age: age(of: held.asOf))
    return isGood(answer) ? answer : nil
  }

  /// Whether an answer is as young as its layer's limits ask for.
  func isGood(_ answer: Answer) -> Bool {
    guard let limit = options.limits(of: answer.source).maximumAge else { return true }
    guard let age = answer.age else { return false }
    return age <= limit
  }

  // MARK: Strategies

  func answer(_ question: LayerQuery<Object>, _ strategy: RetrievalStrategy) async throws(PersistenceError)
    -> Answer
  {
    if Task.isCancelled { throw .cancelled() }
    if below.isEmpty { return try await askTop(question) }
    switch strategy {
    case .fastestAvailable: return try await fastest(question)
    case .upToDateWithFallback, .returnMultipleTimes: return try await upToDate(question)
    }
  }

  private func upToDate(_ question: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    do {
      return try await askTop(question)
    } catch {
      let (answer, failures, lacking) = try await fallBack(question, after: error)
      if let answer { return answer }
      return try await incomplete(question, failures, lacking)
    }
  }

  /// Asks the layers below, one after the other, where the store that decides failed in a way that lets them answer.
  private func fallBack(
    _ question: LayerQuery<Object>, after error: PersistenceError
  ) async throws(PersistenceError) -> (answer: Answer?, failures: [LayerFailure], lacking: [DataSourceLayer])
  {
    guard error.allowsFallback else { throw error }
    var failures = [LayerFailure(top, error)]
    var lacking: [DataSourceLayer] = []
    for (layer, _) in below {
      do throws(PersistenceError) {
        if var answer = try await ask(layer, question) {
          answer.failures = failures
          return (answer, failures, lacking)
        }
        lacking.append(layer)
      } catch {
        if error.code == .cancelled { throw error }
        failures.append(LayerFailure(layer, error))
      }
    }
    return (nil, failures, lacking)
  }

  private func fastest(_ question: LayerQuery<Object>) async throws(PersistenceError) -> Answer {
    if let answer = try askCacheNow(question) { return answer }
    let race = LayerRace(self, question)
    defer { race.stop() }
    var failures: [LayerFailure] = []
    var lacking: [DataSourceLayer] = []
    var old: Answer?
    while let (layer, outcome) = await race.next() {
      switch outcome {
      case .success(var answer?):
        if isGood(answer) {
          answer.failures += failures
          return answer
        }
        // Too old to be good, it is better than none.
        if let other = old, let age = other.age, age <= answer.age ?? .seconds(1 << 40) { continue }
        old = answer
      case .success(nil): lacking.append(layer)
      case .failure(let error):
        // The question is at fault, not the layer.
        if layer == top, !error.allowsFallback { throw error }
        failures.append(LayerFailure(layer, error))
      }
    }
    if Task.isCancelled { throw .cancelled() }
    if var old {
      old.failures = failures
      return old
    }
    return try await incomplete(question, failures, lacking)
  }

  /// What is held where no layer can answer whole; throws where that is nothing.
  func incomplete(
    _ question: LayerQuery<Object>, _ failures: [LayerFailure], _ lacking: [DataSourceLayer]
  ) async throws(PersistenceError) -> Answer {
    if Task.isCancelled { throw .cancelled() }
    var failures = failures
    // Of one key there is no part: what is in doubt is not given out.
    if case .query = question.kind {
      for (layer, holder) in below where !failures.contains(where: { $0.layer == layer }) {
        do throws(PersistenceError) {
          let held = try await attempts(layer).run { () async throws(PersistenceError) in
            try await holder.held(question)
          }
          if !held.isEmpty {
            return Answer(held, from: layer, age: nil, isComplete: false, failures: failures)
          }
        } catch {
          failures.append(LayerFailure(layer, error))
        }
      }
    }
    throw .noAnswer(failures, lacking: lacking)
  }

  /// The answer for callers that cannot be told that it is not complete.
  func completeAnswer(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    let answer = try await answer(question, options.strategy)
    if answer.isComplete || options.acceptsIncompleteAnswers { return answer.value }
    throw .noAnswer(answer.failures, lacking: [answer.source])
  }

  // MARK: Counting

  /// How many objects there are.
  ///
  /// The store that decides counts without handing objects out; what lies below is not refreshed with a number.
  func count(_ question: LayerQuery<Object>, _ query: FetchOptions<Object>) async throws(PersistenceError)
    -> Int
  {
    if Task.isCancelled { throw .cancelled() }
    if options.strategy == .fastestAvailable, let answer = try askCacheNow(question) {
      return answer.value.count
    }
    do {
      try await sendWaiting()
      let store = topStore
      return try await attempts(top).run { () async throws(PersistenceError) in try await store.count(query) }
    } catch {
      let (answer, failures, lacking) = try await fallBack(question, after: error)
      guard let answer else { throw .noAnswer(failures, lacking: lacking) }
      return answer.value.count
    }
  }
}
