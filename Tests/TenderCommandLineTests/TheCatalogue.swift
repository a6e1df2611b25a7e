import TenderCommandLine
import TenderCommands

/// What the program offers.
let catalogue = Catalogue(Providers.all)
