#if HTTP
  import Synchronization

  /// The bytes of one answer in the budget, until they are sent or discarded.
  final class BudgetShare: Sendable {
    private let budget: AnswerBudget
    private let size: Int
    private let hasEnded = Atomic(false)

    init(_ budget: AnswerBudget, _ size: Int) {
      (self.budget, self.size) = (budget, size)
      budget.add(size)
    }

    deinit { end() }

    func end() {
      if !hasEnded.exchange(true, ordering: .relaxed) { budget.remove(size) }
    }
  }
#endif
