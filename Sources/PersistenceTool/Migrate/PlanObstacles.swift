import PersistenceDriver
import PersistenceMigration

/// What would stop a run, in words.
struct PlanObstacles {
  let lines: [String]

  init(_ plan: MigrationPlan, _ options: MigrationOptions) {
    var lines: [String] = []
    if !options.allowLossy {
      let changed = plan.losses.filter(\.isChange).reduce(0) { $0 + $1.count }
      if changed > 0 { lines.append("\(changed) values would be changed; --allow-lossy lets them") }
      for omission in plan.unmappedObjects where omission.losesRecords {
        lines.append(
          "the \(omission.kind.rawValue) “\(omission.name)” would be left out; --allow-lossy lets it")
      }
    }
    let refused = plan.losses.filter { !$0.isChange }.reduce(0) { $0 + $1.count }
    if refused > 0 {
      if options.failures == .stop {
        lines.append("\(refused) values cannot be carried over; --on-error reject puts their records aside")
      } else if let most = options.maxRejects, refused > most {
        lines.append("\(refused) values cannot be carried over, and --max-rejects is \(most)")
      }
    }
    let present = plan.models.reduce(0) { $0 + $1.present }
    if plan.isInterrupted {
      lines.append(
        "an interrupted run has begun to fill the destination; --resume goes on with it, --restart begins anew"
      )
    } else if present > 0, options.conflicts == .fail {
      lines.append(
        "the destination holds \(present) records already; --on-conflict says what becomes of them")
    }
    if plan.estimate.isTooLarge { lines.append("there is less room than is needed") }
    self.lines = lines
  }
}
