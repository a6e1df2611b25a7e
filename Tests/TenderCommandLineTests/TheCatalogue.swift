import TenderCommandLine
import TenderCommands

/// What the program offers.
let catalogue = Providers().catalogue
