/** Written after most changes to how facts are compared, then looked at. A way that had one person live in many places was replaced. */
import { type Attribute, attribute } from "./attribute.ts"

export const UNSEEN: readonly Attribute[] = [
  attribute(
    "rent",
    ["The rent for {p} is {v}.", "{p} costs {v} in rent.", "{p} rents for {v}."],
    "$850; $1,100; $1,430",
  ),
  attribute(
    "tenant",
    ["{v} rents {p}.", "The tenant of {p} is {v}.", "{p} is let to {v}."],
    "Mrs. Aydin; Mr. Cole; Ms. Novak",
  ),
  attribute(
    "cleaner",
    ["{v} cleans {p}.", "{p} is cleaned by {v}.", "The cleaner of {p} is {v}."],
    "Rosa; Piotr; Amina",
  ),
  attribute(
    "pickup",
    ["The bins of {p} are emptied on {v}.", "{p}'s bins get emptied on {v}."],
    "Mondays; Thursdays; Saturdays",
  ),
  attribute(
    "key",
    ["The spare key to {p} is with {v}.", "{v} has the spare key to {p}."],
    "the caretaker; the bakery; Uncle Jan",
  ),
  attribute(
    "heating",
    ["{p} is heated with {v}.", "The heating of {p} runs on {v}."],
    "gas; wood pellets; district heat",
  ),
  attribute("size", ["{p} has {v} of floor space.", "The floor space of {p} is {v}."], "48 m2; 62 m2; 91 m2"),
  attribute("deposit", ["The deposit for {p} is {v}.", "We took a deposit of {v} for {p}."], "$1,700; $2,200; $3,000"),
  attribute(
    "lease",
    ["The lease of {p} ends on {v}.", "{p} is leased until {v}."],
    "2026-09-30; 2027-03-31; 2028-01-31",
  ),
  attribute(
    "inspection",
    ["{p} is inspected every {v}.", "Inspections of {p} happen every {v}."],
    "spring; March; October",
  ),
  attribute("parking", ["{p} has parking space {v}.", "The parking space of {p} is {v}."], "7; 12; 19"),
  attribute("colour", ["The front door of {p} is {v}.", "{p} has a {v} front door."], "green; white; blue"),
  attribute(
    "provider",
    ["{p} gets its internet from {v}.", "The internet provider of {p} is {v}."],
    "Telnor; Fibrix; Novacom",
  ),
  attribute("quiet", ["Quiet hours in {p} begin at {v}.", "{p} has quiet hours from {v}."], "9 pm; 22:00; 23:00"),
  attribute("plumber", ["{v} does the plumbing in {p}.", "The plumber for {p} is {v}."], "Hauser; Delgado; O'Brien"),
  attribute("meter", ["The meter number of {p} is {v}.", "{p} has meter number {v}."], "88-104; 88-217; 90-332"),
  attribute("viewing", ["Viewings of {p} take place at {v}.", "{p} can be viewed at {v}."], "10:00; 3 pm; 17:30"),
  attribute("pets", ["{p} has a small balcony."], ""),
  attribute("noise", ["{p} is close to the tram."], ""),
]

export const UNSEEN_THINGS =
  "the attic flat; Elm Court; the corner shop; Studio Nord; the basement; Villa Rosa; the garden house; Linden Row; the loft; Mill House; the gatehouse; Harbour View; the annex".split(
    "; ",
  )
