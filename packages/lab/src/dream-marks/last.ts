/** Written before the last changes to how facts are compared, and measured once after them. No sentence of it was looked at meanwhile. */
import { type Attribute, attribute } from "./attribute.ts"

export const LAST: readonly Attribute[] = [
  attribute("dose", ["{p} takes {v} of iron a day.", "The daily iron dose for {p} is {v}."], "20 mg; 45 mg; 60 mg"),
  attribute("vet", ["{p} sees {v} for check-ups.", "The vet of {p} is {v}."], "Dr. Amsel; Dr. Okafor; Dr. Lindqvist"),
  attribute("feed", ["{p} is fed at {v}.", "Feeding time for {p} is {v}."], "06:30; 7 pm; 21:15"),
  attribute("stable", ["{p} sleeps in {v}.", "At night {p} is in {v}."], "box 4; the north barn; box 11"),
  attribute("weight", ["{p} weighs {v}.", "The weight of {p} is {v}."], "410 kg; 455 kg; 520 kg"),
  attribute(
    "trainer",
    ["{v} trains {p}.", "{p} is trained by {v}.", "{p}'s trainer is {v}."],
    "Solveig; Bram; Tadeusz",
  ),
  attribute(
    "shoes",
    ["{p} gets new shoes every {v}.", "New shoes for {p} are due every {v}."],
    "six weeks; eight weeks; five weeks",
  ),
  attribute("race", ["The next race of {p} is on {v}.", "{p} runs next on {v}."], "2026-06-21; 2026-08-02; 2026-09-13"),
  attribute("insured", ["{p} is insured for {v}.", "The insured value of {p} is {v}."], "$8,000; $12,500; $30,000"),
  attribute("pasture", ["{p} grazes on {v}.", "The pasture of {p} is {v}."], "Hill Meadow; Long Acre; Fox Field"),
  attribute("jockey", ["{v} rides {p} in races.", "In races {p} is ridden by {v}."], "Niamh; Esteban; Kaito"),
  attribute(
    "hay",
    ["Hay for {p} comes from {v}.", "We order hay for {p} from {v}."],
    "Brandt Farm; Lowell & Sons; Green Valley",
  ),
  attribute("blanket", ["{p}'s blanket is {v}.", "{p} wears a {v} blanket."], "red; navy; yellow"),
  attribute("clipping", ["{p} is clipped {v}.", "Clipping of {p} happens {v}."], "monthly; weekly; quarterly"),
  attribute(
    "farrier",
    ["The farrier comes to {p} on {v}.", "{p} has the farrier on {v}."],
    "Mondays; Thursdays; Saturdays",
  ),
  attribute("level", ["{p} competes at level {v}.", "The competition level of {p} is {v}."], "2; 3; 5"),
  attribute(
    "passport",
    ["{p}'s passport number is {v}.", "The passport number of {p} is {v}."],
    "DE-441; NL-908; FR-173",
  ),
  attribute(
    "trailer",
    ["{p} travels in {v}.", "The trailer of {p} is {v}."],
    "the blue trailer; the double; the old Ifor",
  ),
  attribute("temper", ["{p} is afraid of umbrellas."], ""),
  attribute("habit", ["{p} likes the company of goats."], ""),
]

export const LAST_THINGS =
  "Thunder; the bay mare; Whisper; Old Finn; Copper; the grey gelding; Saffron; Little Moss; Bramble; the chestnut; Echo; Duchess; Pip".split(
    "; ",
  )
