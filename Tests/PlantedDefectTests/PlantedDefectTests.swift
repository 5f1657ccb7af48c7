import Testing

/// One after another: checks of time-outs are run beside nothing else.
@Suite("Planted defects", .serialized)
enum PlantedDefectTests {}
