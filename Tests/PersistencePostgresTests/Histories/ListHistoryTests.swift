#if Postgres
  import Testing

  /// Whether the check of histories finds what it shall find.
  @Suite struct ListHistoryTests {
    private static let start = ContinuousClock.now

    private func transaction(
      _ word: String, reads: [Int: [String]] = [:], appends: Set<Int> = [],
      _ outcome: ListTransaction.Outcome = .applied, from begin: Int? = nil, to end: Int? = nil
    ) -> ListTransaction {
      ListTransaction(
        word: word, reads: reads, appends: appends, outcome: outcome,
        begin: begin.map { Self.start + .seconds($0) }, end: end.map { Self.start + .seconds($0) })
    }

    private func anomalies(_ lists: [[String]], _ transactions: ListTransaction...) -> [String] {
      ListHistory(transactions: transactions).anomalies(endingWith: lists)
    }

    @Test("W6 a serial history has no anomaly, whether its unknown transactions were applied or not")
    func serial() {
      #expect(
        anomalies(
          [["a", "b", "d"], ["b"]], transaction("a", reads: [0: []], appends: [0], from: 0, to: 1),
          transaction("b", reads: [0: ["a"], 1: []], appends: [0, 1], from: 2, to: 3),
          transaction("c", appends: [0], .unknown, from: 3),
          transaction("d", appends: [0], .unknown, from: 3),
          transaction("e", appends: [0], .refused, from: 3),
          transaction("f", reads: [0: ["a", "b"]], from: 4, to: 5)) == [])
    }

    @Test("W3 W5 lost, refused, partial, repeated and foreign appends are anomalies")
    func effects() {
      #expect(anomalies([[]], transaction("a", appends: [0])).count == 1)
      #expect(anomalies([["a"]], transaction("a", appends: [0], .refused)).count == 1)
      #expect(anomalies([["a"], []], transaction("a", appends: [0, 1], .unknown)).count == 1)
      #expect(anomalies([["a", "a"]], transaction("a", appends: [0])).count == 1)
      #expect(anomalies([["a", "b"]], transaction("a", appends: [0])).count == 1)
    }

    @Test("W6 reads that no serial order explains are anomalies")
    func orders() {
      // A list that never was.
      #expect(
        anomalies(
          [["a", "b"]], transaction("a", appends: [0]), transaction("b", appends: [0]),
          transaction("c", reads: [0: ["b"]])
        ).count == 1)
      // A lost update, where both read the same list.
      #expect(
        anomalies(
          [["a", "b"]], transaction("a", reads: [0: []], appends: [0]),
          transaction("b", reads: [0: []], appends: [0])
        ).count == 1)
      // Write skew.
      #expect(
        anomalies(
          [["a"], ["b"]], transaction("a", reads: [0: [], 1: []], appends: [0]),
          transaction("b", reads: [0: [], 1: []], appends: [1])
        ).count == 1)
      // Two readers that see two writers in different orders.
      #expect(
        anomalies(
          [["a"], ["b"]], transaction("a", appends: [0]), transaction("b", appends: [1]),
          transaction("c", reads: [0: ["a"], 1: []]), transaction("d", reads: [0: [], 1: ["b"]])
        ).count == 1)
      // A stale read, after the end of the write.
      #expect(
        anomalies(
          [["a"]], transaction("a", appends: [0], from: 0, to: 1),
          transaction("b", reads: [0: []], from: 2, to: 3)
        ).count == 1)
    }
  }
#endif
