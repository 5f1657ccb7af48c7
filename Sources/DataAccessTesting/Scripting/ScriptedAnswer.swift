public import PersistenceCore

/// The answer of a ``ScriptedDataSource`` to one call.
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

  /// The answer of the wrapped data source.
  public static let genuine = ScriptedAnswer(outcome: .genuine)

  /// No answer until the task is cancelled, and then ``PersistenceError/Code/cancelled``.
  ///
  /// The call has no effect.
  public static let hangs = ScriptedAnswer(outcome: .hangs)

  /// An error.
  ///
  /// The call has no effect.
  public static func failure(_ error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .failure(error))
  }

  /// An error after the call has taken effect: the answer is lost.
  public static func lost(_ error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .lost(error))
  }

  /// The start of an answer, and then an error.
  ///
  /// Only pages return objects before the error; a call that returns all objects at once throws immediately.
  ///
  /// - Parameters:
  ///   - count: The number of objects before the error.
  ///   - error: The error.
  /// - Returns: The answer.
  public static func partial(_ count: Int, then error: PersistenceError) -> ScriptedAnswer {
    ScriptedAnswer(outcome: .partial(count, error))
  }

  /// The first objects of an answer, presented as the whole answer.
  ///
  /// No correct data source does this.
  public static func truncated(to count: Int) -> ScriptedAnswer { ScriptedAnswer(outcome: .truncated(count)) }

  /// The same answer after a delay on the data source's clock.
  ///
  /// - Parameter delay: The delay.
  /// - Returns: The delayed answer.
  public func after(_ delay: Duration) -> ScriptedAnswer {
    var answer = self
    answer.delay = self.delay + delay
    return answer
  }
}
