/// Chooses states after power failures from a recorded run, the most telling first.
///
/// Almost every known defect of this kind shows after few operations, just after a promise or a synchronization. So the
/// plan begins with the extremes at each promise: all pending changes lost, all kept, only names and sizes kept, only
/// contents kept. It goes on with the extremes at all other moments, then loses or keeps single changes, and ends with
/// random choices and torn writes.
struct CrashPlan {
  struct Choice {
    var moment: Int
    var fates: [PendingChange: Fate]
    var kind: String
  }

  /// How a choice decides the fates.
  private enum Kind: CaseIterable {
    case lost, namesOnly, contentsOnly, kept

    var text: String {
      switch self {
      case .lost: "everything that was not synchronized is lost"
      case .namesOnly: "names and sizes are kept, contents are lost"
      case .contentsOnly: "contents are kept, names are lost"
      case .kept: "everything is kept"
      }
    }

    func fate(of change: PendingChange) -> Fate {
      switch (self, change) {
      case (.lost, _), (.contentsOnly, .name): .lost
      case (.namesOnly, .content): .sizeOnly
      default: .kept
      }
    }
  }

  private let run: RecordedRun
  private var random: SeededGenerator

  init(_ run: RecordedRun, seed: UInt64) {
    self.run = run
    random = SeededGenerator(seed: seed)
  }

  /// Returns at most a number of choices: half of them extremes at promises, a quarter extremes elsewhere, the rest of
  /// the other kinds; where one kind has fewer, the later ones get more.
  mutating func choices(_ limit: Int) -> [Choice] {
    let moments = run.moments.indices
    var chosen = extremes(at: moments.filter { run.moments[$0].isPromise }, limit / 2)
    chosen += extremes(at: moments.filter { !run.moments[$0].isPromise }, (limit - chosen.count) / 2)
    let open = moments.filter { !run.moments[$0].disk.pending.isEmpty }
    guard !open.isEmpty else { return chosen }
    let singles = (limit - chosen.count) / 2
    for _ in 0..<singles { chosen.append(single(at: random.pick(open))) }
    while chosen.count < limit { chosen.append(randomChoice(at: random.pick(open))) }
    return chosen
  }

  /// Returns the extremes at some moments, or a sample of them in the order of the moments.
  private mutating func extremes(at moments: [Int], _ limit: Int) -> [Choice] {
    let all = moments.flatMap { moment -> [(moment: Int, kind: Kind)] in
      let kinds = run.moments[moment].disk.pending.isEmpty ? [.lost] : Kind.allCases
      return kinds.map { (moment, $0) }
    }
    let chosen =
      all.count <= limit
      ? all : all.indices.shuffled(using: &random).prefix(max(0, limit)).sorted().map { all[$0] }
    return chosen.map { moment, kind in
      choice(at: moment, kind.text) { kind.fate(of: $0) }
    }
  }

  private func choice(at moment: Int, _ kind: String, _ fate: (PendingChange) -> Fate) -> Choice {
    let pending = run.moments[moment].disk.pending
    return Choice(
      moment: moment, fates: Dictionary(uniqueKeysWithValues: pending.map { ($0, fate($0)) }), kind: kind)
  }

  /// Loses or keeps one pending change alone.
  private mutating func single(at moment: Int) -> Choice {
    let single = random.pick(run.moments[moment].disk.pending)
    return random.oneIn(2)
      ? choice(at: moment, "one change alone is kept") { $0 == single ? .kept : .lost }
      : choice(at: moment, "one change alone is lost") { $0 == single ? .lost : .kept }
  }

  private mutating func randomChoice(at moment: Int) -> Choice {
    var fates: [PendingChange: Fate] = [:]
    let keeps = random.int(1...9)
    for change in run.moments[moment].disk.pending {
      let isContent = if case .content = change { true } else { false }
      switch random.int(0...9) {
      case 0 where isContent: fates[change] = .sizeOnly
      case 1...3 where isContent: fates[change] = .torn(seed: random.next())
      default: fates[change] = random.int(0...9) < keeps ? .kept : .lost
      }
    }
    return Choice(moment: moment, fates: fates, kind: "a random part is kept")
  }
}
