/** Written after the set before it had been looked at, and measured once. */
import { type Attribute, attribute } from "./attribute.ts"

export const FINAL: readonly Attribute[] = [
  attribute(
    "doctor",
    ["{p} goes to {v} for the eyes.", "The eye doctor of {p} is {v}."],
    "Dr. Hale; Dr. Moreau; Dr. Sato",
  ),
  attribute("bus", ["{p} takes bus {v} to school.", "The school bus of {p} is {v}."], "12; 31; 44"),
  attribute("class", ["{p} is in class {v}.", "The class of {p} is {v}."], "3b; 4a; 5c"),
  attribute(
    "teacher",
    ["{v} teaches {p} piano.", "{p} learns piano with {v}.", "{p}'s piano teacher is {v}."],
    "Ms. Falk; Mr. Ogun; Ms. Petrov",
  ),
  attribute("lesson", ["The swimming lesson of {p} is on {v}.", "{p} swims on {v}."], "Mondays; Wednesdays; Fridays"),
  attribute("bedtime", ["{p} goes to bed at {v}.", "The bedtime of {p} is {v}."], "19:30; 8 pm; 20:45"),
  attribute("allowance", ["{p} gets {v} a week.", "The weekly allowance of {p} is {v}."], "$3; $5; $8"),
  attribute("locker", ["The locker of {p} is number {v}.", "{p} has locker {v}."], "114; 207; 351"),
  attribute(
    "trip",
    ["{p} leaves for camp on {v}.", "Camp starts for {p} on {v}."],
    "2026-07-03; 2026-07-17; 2026-08-01",
  ),
  attribute("shoe", ["{p} wears shoe size {v}.", "The shoe size of {p} is {v}."], "31; 33; 35"),
  attribute("club", ["{p} plays for {v}.", "The club of {p} is {v}."], "Rovers; United; Harriers"),
  attribute(
    "sitter",
    ["{v} looks after {p} on weekends.", "On weekends {p} is looked after by {v}."],
    "Greta; Jonas; Mina",
  ),
  attribute("lunch", ["{p} eats lunch at {v}.", "Lunch for {p} is at {v}."], "12:00; 12:45; 1:30 pm"),
  attribute(
    "guide",
    ["The path for {p} leads to {v}.", "{p} follows the path to {v}."],
    "the lake; the old mill; the chapel",
  ),
  attribute(
    "run",
    ["The morning run of {p} takes {v}.", "{p} runs for {v} each morning."],
    "20 minutes; 35 minutes; one hour",
  ),
  attribute("code", ["The door code of {p} is {v}.", "{p}'s door code is {v}."], "4711; 9022; 3380"),
  attribute("fear", ["{p} is scared of thunder."], ""),
  attribute("trait", ["{p} manages sleepovers well."], ""),
]

export const FINAL_THINGS =
  "Leo; Clara; the twins; Nora; Little Sam; Theo; the youngest; Ada; Finn; Marlene; the older boy; Ida; Otto".split(
    "; ",
  )
