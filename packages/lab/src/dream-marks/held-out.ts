/** Attributes and phrasings that no rule was written with. Only its mistakes were looked at, once. */
import { type Attribute, attribute } from "./attribute.ts"

export const HELD_OUT: readonly Attribute[] = [
  attribute("altitude", ["The altitude of {p} is {v}.", "{p}'s altitude is {v}."], "240 m; 1,310 m; 88 m"),
  attribute("keeper", ["The key to {p} is kept by {v}.", "{v} keeps the key to {p}."], "Hanna; Idris; Paolo"),
  attribute(
    "delivery",
    ["Paper for {p} is delivered on {v}.", "Paper for {p} arrives on {v}.", "We get paper for {p} on {v}."],
    "Tuesdays; Fridays; Mondays",
  ),
  attribute("printer", ["{p} prints on {v}.", "The printer of {p} is {v}."], "Canon-7; Brother-2; HP-9"),
  attribute("opening", ["{p} opens at {v}.", "The opening time of {p} is {v}."], "08:30; 9 am; 10:15"),
  attribute("seats", ["{p} has {v} seats.", "There are {v} seats in {p}."], "12; 40; 65"),
  attribute("insurer", ["{p} is insured with {v}.", "The insurer of {p} is {v}."], "Allianz; Zurich; Generali"),
  attribute("wifi", ["The wifi of {p} is called {v}.", "{p}'s wifi is called {v}."], "blue-fox; guest-42; quiet-owl"),
  attribute(
    "inspection",
    ["The next inspection of {p} is on {v}.", "{p} is inspected next on {v}."],
    "2026-07-04; 2026-10-12; 2027-02-01",
  ),
  attribute(
    "supplier",
    ["Coffee for {p} comes from {v}.", "We buy coffee for {p} from {v}."],
    "Lavazza; Gringo; Bonanza",
  ),
  attribute("heating", ["The heating in {p} is {v}.", "Heating in {p} is {v}."], "on; off"),
  attribute("floor", ["{p} is on floor {v}.", "{p} is located on floor {v}."], "3; 5; 11"),
  attribute("rent", ["The rent of {p} is {v} a month.", "{p} costs {v} a month."], "$900; $1,450; $2,100"),
  attribute(
    "parking",
    ["Bikes of {p} are parked in {v}.", "We park the bikes of {p} in {v}."],
    "Dock Street; Mill Lane; Abbey Yard",
  ),
  attribute("charm", ["{p} smells of varnish."], ""),
  attribute("noise", ["{p} is next to the railway."], ""),
]

export const HELD_OUT_THINGS =
  "Maple House; the annexe; Harbour Hall; the studio; Cedar; the reading room; Lantern; the workshop; Birch Court; the depot; Elm; the loft; Kiln".split(
    "; ",
  )
