import Foundation
import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// V1 to V5: values that are stored wrongly.
  static let values: [PlantedDefect] = [
    lacking("rows lack their last cell", 1), lacking("rows lack their last two cells", 2),
    PlantedDefect("NaN is stored as nil", .v4, .v2) { flaw in
      flaw.store = { value, _ in
        if case .double(let number) = value, number.isNaN { .null } else { value }
      }
    },
    PlantedDefect("NaN is stored as zero", .v4, .v2) { flaw in
      flaw.store = { value, _ in
        if case .double(let number) = value, number.isNaN { .double(0) } else { value }
      }
    },
    PlantedDefect("text ends at U+0000", .v2, .v3) { flaw in
      flaw.bind = { value, field in
        guard case .text(let text) = value else { return value }
        return .text(String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self))
      }
    },
    PlantedDefect("text is normalized to composed form", .v2, .v3) { flaw in
      flaw.store = { value, _ in
        if case .text(let text) = value { .text(text.precomposedStringWithCanonicalMapping) } else { value }
      }
    },
    PlantedDefect("trailing spaces are trimmed", .v2) { flaw in
      flaw.store = { value, _ in
        guard case .text(let text) = value else { return value }
        return .text(String(text.reversed().drop { $0 == " " }.reversed()))
      }
    },
    PlantedDefect("empty text is nil", .v2) { flaw in
      flaw.store = { value, field in
        if case .text("") = value, field.isOptional { .null } else { value }
      }
    },
    PlantedDefect("empty data is nil", .v2) { flaw in
      flaw.store = { value, field in
        if case .bytes([]) = value, field.isOptional { .null } else { value }
      }
    },
    PlantedDefect("an empty list is nil", .v2) { flaw in
      flaw.store = { value, field in
        if case .document("[]") = value, field.isOptional { .null } else { value }
      }
    },
    PlantedDefect("dates are rounded to milliseconds", .v2) { flaw in
      flaw.store = { value, _ in
        if case .date(let seconds) = value { .date((seconds * 1000).rounded() / 1000) } else { value }
      }
    },
    PlantedDefect("dates lose bits through the 1970 epoch", .v2) { flaw in
      flaw.store = { value, _ in
        guard case .date(let seconds) = value else { return value }
        let epoch = Date.timeIntervalBetween1970AndReferenceDate
        return .date((seconds + epoch) - epoch)
      }
    },
    PlantedDefect("floating-point numbers pass through six digits of text", .v2) { flaw in
      flaw.store = { value, field in
        guard case .double(let number) = value, field.kind == .float, number.isFinite else { return value }
        return .double(Double(String(format: "%g", number)) ?? number)
      }
    },
    PlantedDefect("integers pass through a double", .v5) { flaw in
      flaw.store = { value, _ in
        if case .integer(let number) = value {
          .integer(Int64(exactly: Double(number)) ?? .max)
        } else {
          value
        }
      }
    },
    PlantedDefect("UInt32 is stored as Int32", .v1, .v2) { flaw in
      flaw.store = { value, field in
        guard case .integer(let number) = value, field.kind == .uint32 else { return value }
        return .integer(Int64(Int32(truncatingIfNeeded: number)))
      }
    },
    PlantedDefect("decimals pass through a double", .v2) { flaw in
      flaw.store = { value, _ in
        guard case .decimal(let number) = value, !number.isNaN else { return value }
        return .decimal(Decimal(NSDecimalNumber(decimal: number).doubleValue))
      }
    },
    PlantedDefect("integers in documents pass through a double", .v5, .v2) { flaw in
      flaw.store = { value, _ in
        guard case .document(let text) = value else { return value }
        let rounded = text.replacing(#/(^|[:\[,])(-?\d{16,19})(?=$|[,\]}])/#) { match -> String in
          let number = Double(match.2).flatMap { Int64(exactly: $0) }
          return number.map { "\(match.1)\($0)" } ?? String(match.0)
        }
        return .document(rounded)
      }
    },
    PlantedDefect("URLs are normalized", .v2) { flaw in
      flaw.store = { value, field in
        guard case .text(let text) = value, field.kind == .url else { return value }
        return .text(URL(string: text)?.standardized.absoluteString.lowercased() ?? text)
      }
    },
    PlantedDefect("keys are folded to lower case", .o1, .v3) { flaw in
      flaw.key = { key in
        RecordKey(key.values.map { if case .text(let text) = $0 { .text(text.lowercased()) } else { $0 } })
      }
    },
    PlantedDefect("keys are truncated after 511 bytes", .e6, .o1, isSemantic: false) { flaw in
      flaw.key = { key in
        RecordKey(
          key.values.map { value in
            guard case .text(let text) = value, text.utf8.count > 511 else { return value }
            return .text(String(decoding: text.utf8.prefix(511), as: UTF8.self))
          })
      }
    },
    PlantedDefect("the parts of a compound key are joined with a bar", .o1, .e6, isSemantic: false) { flaw in
      flaw.key = { key in
        guard key.values.count == 2, case .text(let first) = key.values[0],
          case .text(let second) = key.values[1], let bar = (first + "|" + second).firstIndex(of: "|")
        else { return key }
        let joined = first + "|" + second
        return RecordKey([
          .text(String(joined[..<bar])), .text(String(joined[joined.index(after: bar)...])),
        ])
      }
    },
    PlantedDefect("U+0000 at the end of a key is lost", .v2, .o1, .e6) { flaw in
      flaw.key = { key in
        RecordKey(
          key.values.map { value in
            guard case .text(let text) = value, text.unicodeScalars.last == "\0" else { return value }
            return .text(String(String.UnicodeScalarView(text.unicodeScalars.dropLast())))
          })
      }
    },
  ]

  private static func lacking(_ name: String, _ count: Int) -> PlantedDefect {
    PlantedDefect(name, .v2) { flaw in
      flaw.results = { results, _ in
        FlawedResults(
          results,
          read: { results, offset, limit, body in
            try results.read(from: offset, limit: limit) { row in
              try Array(row.values().dropLast(count)).withRow(body)
            }
          })
      }
      flaw.find = { key, schema, reader in
        try reader.values(of: key, in: schema).map { Array($0.dropLast(count)) }
      }
    }
  }
}
