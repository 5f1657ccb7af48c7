import Testing

/// Serialized, because checks of timeouts need an idle machine.
@Suite("Planted defects", .serialized)
enum PlantedDefectTests {}
