import PersistenceCore

extension FuzzShrinker {
  mutating func shrinkSteps(at path: [Int] = []) {
    reduce {
      $0.steps(at: path).count
    } _: { program, range in
      program.editSteps(at: path) { $0.removeSubrange(range) }
    }
    var place = 0
    while place < best.program.steps(at: path).count, !isSpent {
      switch best.program.steps(at: path)[place] {
      case .transaction(let steps, let ending):
        let isOpened = attempt { $0.editSteps(at: path) { $0.replaceSubrange(place...place, with: steps) } }
        if isOpened { continue }
        if ending == .rollback {
          attempt { $0.editSteps(at: path) { $0[place] = .transaction(steps, .commit) } }
        }
        shrinkSteps(at: path + [place])
      case .saveMany: shrinkBulk(at: path, place)
      case .read(let query, let runs) where runs.count > 1:
        for run in runs {
          if attempt({ $0.editSteps(at: path) { $0[place] = .read(query, [run]) } }) { break }
        }
      case .updateRows, .select, .aggregate, .evolve, .declared:
        shrinkStep(at: path, place)
        if case .select(let query, _, let number) = best.program.steps(at: path)[place] {
          attempt {
            $0.editSteps(at: path) { $0[place] = number.map { .fetchHeld($0, query) } ?? .fetch(query) }
          }
        }
      case .read(let query, _), .pages(let query, _), .sorted(let query, _, _, _):
        attempt { $0.editSteps(at: path) { $0[place] = .fetch(query) } }
      case .save(let model, let row): attempt { $0.editSteps(at: path) { $0[place] = .insert(model, row) } }
      default: break
      }
      place += 1
    }
  }

  /// Removes the assignments, selections, groups and aggregates of a step, piece by piece.
  private mutating func shrinkStep(at path: [Int], _ place: Int) {
    while !isSpent {
      let isSmaller = best.program.steps(at: path)[place].smaller.contains { smaller in
        attempt { $0.editSteps(at: path) { $0[place] = smaller } }
      }
      if !isSmaller { return }
    }
  }

  private mutating func shrinkBulk(at path: [Int], _ place: Int) {
    func rows(_ program: FuzzProgram) -> [[PersistentValue]] {
      let steps = program.steps(at: path)
      if place < steps.count, case .saveMany(_, let rows) = steps[place] { return rows }
      return []
    }
    reduce {
      rows($0).count
    } _: { program, range in
      var shorter = rows(program)
      shorter.removeSubrange(range)
      program.editSteps(at: path) { steps in
        if case .saveMany(let model, _) = steps[place] { steps[place] = .saveMany(model, shorter) }
      }
    }
    if case .saveMany(let model, let rows) = best.program.steps(at: path)[place], rows.count <= 3 {
      attempt {
        $0.editSteps(at: path) { $0.replaceSubrange(place...place, with: rows.map { .save(model, $0) }) }
      }
    }
  }
}
