public import PersistenceCore

/// How a ``ScriptedDataSource`` answers one call.
public struct ScriptedAnswer: Sendable {
  enum Outcome: Sendable {
    case genuine
    case failure(PersistenceError)
    case lost(PersistenceError)
    case partial(Int, PersistenceError)
    case truncated(Int)
    case hangs
  }

  let outcome: Outcome
  var delay: Duration = .zero

  /// What the store inside answers.
  public static let genuine = ScriptedAnswer(outcome: .genuine)

  /// No answer until the task is cancelled, and then ``PersistenceError/Code/cancelled``; nothing is done.
  public static let hangs = ScriptedAnswer(outcome: .hangs)

  /// An error; nothing is done.
  public static func failure(_ error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .failure(error))
  }

  /// An error after what was asked for has been done: the answer was lost on its way.
  public static func lost(_ error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .lost(error))
  }

  /// The beginning of an answer, and then an error.
  ///
  /// Pages give so many objects before they throw. What is asked for whole is not given in part: that throws at once.
  ///
  /// - Parameters:
  ///   - count: How many objects come through.
  ///   - error: What is thrown then.
  /// - Returns: The answer.
  public static func partial(_ count: Int, then error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .partial(count, error))
  }

  /// An answer that says it is whole and holds only its first objects: what no store may give.
  public static func truncated(to count: Int) -> ScriptedAnswer { ScriptedAnswer(outcome: .truncated(count)) }

  /// The same answer, after a time on the store's clock.
  ///
  /// - Parameter delay: The time.
  /// - Returns: The later answer.
  public func after(_ delay: Duration) -> ScriptedAnswer {
    var answer = self
    answer.delay = self.delay + delay
    return answer
  }
}
