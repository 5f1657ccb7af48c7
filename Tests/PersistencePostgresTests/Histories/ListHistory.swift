#if Postgres
  /// One transaction of a client that reads lists and appends a word to some of them.
  struct ListTransaction: Sendable {
    /// What the client knows of a transaction.
    enum Outcome: Sendable {
      case applied, refused
      /// The store may or may not hold it.
      case unknown
    }

    /// The word, which no other transaction appends.
    let word: String
    /// The lists as it read them, before its own appends.
    var reads: [Int: [String]] = [:]
    /// The lists to which it appends.
    var appends: Set<Int> = []
    var outcome = Outcome.unknown
    /// When the client began it, and learned that it was applied; nil if that is not known.
    var begin: ContinuousClock.Instant?
    var end: ContinuousClock.Instant?
  }

  /// A history of transactions on lists, which is checked after the event.
  ///
  /// A list keeps the order of its writers, so that each read tells which transactions were before it. The history is
  /// strictly serializable if the order of the transactions, as the reads, the lists and the clocks tell it, has no cycle
  /// (K. Kingsbury and P. Alvaro, “Elle: Inferring Isolation Anomalies from Experimental Observations”, VLDB 2020).
  struct ListHistory {
    let transactions: [ListTransaction]

    /// What no serial order of the transactions explains; empty if there is one.
    ///
    /// - Parameter lists: The lists at the end.
    /// - Returns: The anomalies, as text.
    func anomalies(endingWith lists: [[String]]) -> [String] {
      var anomalies: [String] = []
      let writers = Dictionary(
        transactions.enumerated().map { ($0.element.word, $0.offset) },
        uniquingKeysWith: { first, _ in first })
      var found = transactions.map { _ in Set<Int>() }
      for (list, words) in lists.enumerated() {
        if Set(words).count < words.count { anomalies.append("a word is twice in the list \(list)") }
        for word in words {
          guard let writer = writers[word] else {
            anomalies.append("nobody appended \(word) to the list \(list)")
            continue
          }
          found[writer].insert(list)
        }
      }
      var effective: [Int] = []
      for (number, transaction) in transactions.enumerated() {
        let isWhole = found[number] == transaction.appends
        switch transaction.outcome {
        case .applied:
          if !isWhole { anomalies.append("\(transaction.word) was applied, and is lost") }
          effective.append(number)
        case .refused:
          if !found[number].isEmpty { anomalies.append("\(transaction.word) was refused, and is there") }
        case .unknown:
          guard !found[number].isEmpty else { continue }
          if !isWhole { anomalies.append("\(transaction.word) is there in part") }
          effective.append(number)
        }
      }
      guard anomalies.isEmpty else { return anomalies }
      var order = Precedence(transactions.count)
      for words in lists {
        for (word, next) in zip(words, words.dropFirst()) { order.add(writers[word], before: writers[next]) }
      }
      for number in effective {
        for (list, read) in transactions[number].reads {
          guard lists[list].starts(with: read) else {
            anomalies.append("\(transactions[number].word) read what the list \(list) never was")
            continue
          }
          order.add(read.last.flatMap { writers[$0] }, before: number)
          // It read the list before the next word came.
          if read.count < lists[list].count { order.add(number, before: writers[lists[list][read.count]]) }
        }
      }
      order.add(times: effective.map { ($0, transactions[$0].begin, transactions[$0].end) })
      if let cycle = order.cycle() {
        let words = cycle.filter { $0 < transactions.count }.map { transactions[$0].word }
        anomalies.append("no order has \(words.joined(separator: " before ")) before the first")
      }
      return anomalies
    }
  }

  /// Which transactions come before which others.
  private struct Precedence {
    private var later: [[Int]]

    init(_ count: Int) { later = Array(repeating: [], count: count) }

    mutating func add(_ first: Int?, before second: Int?) {
      guard let first, let second, first != second else { return }
      later[first].append(second)
    }

    /// Adds that a transaction which ended before another began came before it.
    ///
    /// Each end is a node after that of the end before, so that the number of edges grows with the transactions only.
    mutating func add(
      times: [(number: Int, begin: ContinuousClock.Instant?, end: ContinuousClock.Instant?)]
    ) {
      let ends = times.compactMap { time in time.end.map { (number: time.number, end: $0) } }
        .sorted { $0.end < $1.end }
      let base = later.count
      later += ends.map { _ in [] }
      for (place, time) in ends.enumerated() {
        later[time.number].append(base + place)
        if place > 0 { later[base + place - 1].append(base + place) }
      }
      for time in times {
        guard let begin = time.begin else { continue }
        var (low, high) = (0, ends.count)
        while low < high {
          let middle = (low + high) / 2
          if ends[middle].end < begin { low = middle + 1 } else { high = middle }
        }
        if low > 0 { later[base + low - 1].append(time.number) }
      }
    }

    /// A cycle, each node before the next one; nil if there is none.
    func cycle() -> [Int]? {
      var counts = later.map { _ in 0 }
      for next in later.joined() { counts[next] += 1 }
      var free = counts.indices.filter { counts[$0] == 0 }
      while let node = free.popLast() {
        for next in later[node] {
          counts[next] -= 1
          if counts[next] == 0 { free.append(next) }
        }
      }
      // Each node that is left comes after another one that is left.
      var earlier: [Int: Int] = [:]
      for node in counts.indices where counts[node] > 0 {
        for next in later[node] where counts[next] > 0 { earlier[next] = node }
      }
      guard var node = counts.indices.first(where: { counts[$0] > 0 }) else { return nil }
      var path: [Int] = []
      var places: [Int: Int] = [:]
      while places[node] == nil {
        places[node] = path.count
        path.append(node)
        guard let before = earlier[node] else { return path }
        node = before
      }
      return path[(places[node] ?? 0)...].reversed()
    }
  }
#endif
