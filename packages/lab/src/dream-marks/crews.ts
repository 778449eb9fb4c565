/** People and their work, whose facts look alike. Written before facts were compared by their attribute, and first measured after it. */
import { type Attribute, attribute } from "./attribute.ts"

export const CREWS: readonly Attribute[] = [
  attribute("home", ["{p} lives in {v}.", "The home of {p} is in {v}."], "Bergen; Split; Cork; Gdynia"),
  attribute("employer", ["{p} works for {v}.", "The employer of {p} is {v}."], "Maersk; Hapag; Stena Line"),
  attribute("cabin", ["{p} sleeps in cabin {v}.", "The cabin of {p} is number {v}."], "12; 27; 31"),
  attribute("watch", ["{p} keeps watch at {v}.", "The watch of {p} begins at {v}."], "04:00; 8 am; 20:00"),
  attribute("boat", ["{p} sails on {v}.", "The ship of {p} is {v}."], "the Aurora; the Petrel; the Halcyon"),
  attribute("mentor", ["{p} is mentored by {v}.", "{v} mentors {p}."], "Captain Reyes; Captain Holm; Captain Adeyemi"),
  attribute("rank", ["{p} serves as {v}.", "The rank of {p} is {v}."], "bosun; second mate; third engineer"),
  attribute("pay", ["{p} earns {v} a month.", "The monthly pay of {p} is {v}."], "$3,100; $4,250; $5,600"),
  attribute(
    "leave",
    ["{p} goes on leave on {v}.", "The leave of {p} starts on {v}."],
    "2026-06-10; 2026-07-22; 2026-09-05",
  ),
  attribute("language", ["On the radio {p} speaks {v}.", "{p} speaks {v} on the radio."], "English; Spanish; Danish"),
  attribute("phone", ["{p} can be reached at {v}.", "The number of {p} is {v}."], "555-0121; 555-0136; 555-0177"),
  attribute(
    "medical",
    ["The medical of {p} is valid until {v}.", "{p} needs a new medical after {v}."],
    "2026-08-31; 2027-02-28; 2027-05-31",
  ),
  attribute(
    "contract",
    ["The contract of {p} runs for {v}.", "{p} has a contract for {v}."],
    "four months; six months; nine months",
  ),
  attribute("drink", ["{p} takes {v} on night watch.", "On night watch {p} drinks {v}."], "coffee; black tea; cocoa"),
  attribute("agent", ["{p} was hired through {v}.", "{v} placed {p}."], "Seabright; Crewlink; Northmen"),
  attribute("suit", ["{p} wears a {v} survival suit.", "The survival suit of {p} is {v}."], "red; orange; yellow"),
  attribute(
    "store",
    ["{p} keeps the tools in {v}.", "The tools of {p} are in {v}."],
    "locker 4; locker 9; the forepeak",
  ),
  attribute("fear", ["{p} gets seasick in a swell."], ""),
  attribute("skill", ["{p} can splice wire rope."], ""),
  attribute("family", ["{p} has a sister in Porto."], ""),
]

export const CREWS_THINGS =
  "Anders; Marisol; Old Pete; Tomek; the cook; Ingrid; Kwame; the new deckhand; Yara; Dario; the pilot; Siobhan; Ravi".split(
    "; ",
  )
