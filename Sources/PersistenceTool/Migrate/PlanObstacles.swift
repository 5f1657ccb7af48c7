import PersistenceDriver
import PersistenceMigration

/// The reasons why a run would stop.
struct PlanObstacles {
  let lines: [String]

  init(_ plan: MigrationPlan, _ options: MigrationOptions) {
    var lines: [String] = []
    if !options.allowLossy {
      let changed = plan.losses.filter(\.isChange).reduce(0) { $0 + $1.count }
      if changed > 0 { lines.append("\(changed) values would change; --allow-lossy allows it") }
      for object in plan.unmappedObjects where object.losesRecords {
        lines.append("the \(object.kind.rawValue) “\(object.name)” would be omitted; --allow-lossy allows it")
      }
    }
    let refused = plan.losses.filter { !$0.isChange }.reduce(0) { $0 + $1.count }
    if refused > 0 {
      if options.failures == .stop {
        lines.append("\(refused) values cannot be copied; --on-error reject rejects their records")
      } else if let most = options.maxRejects, refused > most {
        lines.append("\(refused) values cannot be copied, and --max-rejects is \(most)")
      }
    }
    let present = plan.models.reduce(0) { $0 + $1.present }
    if plan.isInterrupted {
      lines.append(
        "the destination holds an interrupted migration; --resume continues it, --restart starts over")
    } else if present > 0, options.conflicts == .fail {
      lines.append("the destination already holds \(present) records; --on-conflict resolves them")
    }
    if plan.estimate.isTooLarge { lines.append("the free space is insufficient") }
    self.lines = lines
  }
}
