import Testing

@Suite("Planted defects")
enum PlantedDefectTests {}
