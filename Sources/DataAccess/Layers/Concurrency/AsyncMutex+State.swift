extension AsyncMutex {
  struct State {
    var isTaken = false
    var continuations: [Int: CheckedContinuation<Bool, Never>] = [:]
    /// The waiting tasks in order of arrival, also those that were cancelled; those before `begun` have left.
    var order: [Int] = []
    var begun = 0
    var tasks = 0

    /// Removes the first task that waits; nil if none does.
    mutating func removeFirst() -> CheckedContinuation<Bool, Never>? {
      while begun < order.count {
        let next = continuations.removeValue(forKey: order[begun])
        begun += 1
        if begun == order.count || begun > 256 {
          order.removeFirst(begun)
          begun = 0
        }
        if let next { return next }
      }
      return nil
    }
  }
}
