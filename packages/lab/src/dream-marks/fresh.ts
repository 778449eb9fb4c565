/** Written after all changes to how facts are compared, and measured once. */
import { type Attribute, attribute } from "./attribute.ts"

export const FRESH: readonly Attribute[] = [
  attribute(
    "capacity",
    ["{p} seats {v}.", "{p} has {v} seats.", "The seating capacity of {p} is {v}."],
    "40; 120; 260",
  ),
  attribute("opening", ["{p} opens at {v}.", "The doors of {p} open at {v}."], "9 am; 10:30; noon"),
  attribute("ticket", ["A ticket for {p} costs {v}.", "The ticket price of {p} is {v}."], "$12; $18; $25"),
  attribute(
    "curator",
    ["{v} curates {p}.", "{p} is curated by {v}.", "The curator of {p} is {v}."],
    "Ilse; Marek; Dalia",
  ),
  attribute("sponsor", ["{p} is sponsored by {v}.", "The sponsor of {p} is {v}."], "Kestrel Bank; Orbis; Halden Foods"),
  attribute("floor", ["{p} is on floor {v}.", "The floor of {p} is {v}."], "1; 2; 4"),
  attribute("closing", ["{p} closes on {v}.", "The closing day of {p} is {v}."], "Mondays; Tuesdays; Sundays"),
  attribute("guard", ["{v} guards {p} at night.", "At night {p} is guarded by {v}."], "Benno; Chidi; Farah"),
  attribute("humidity", ["The humidity in {p} is {v}.", "{p} is kept at a humidity of {v}."], "45%; 50%; 55%"),
  attribute("insurer", ["{p} is insured with {v}.", "The insurer of {p} is {v}."], "Alba; Meridian; Nordwall"),
  attribute("tour", ["Tours of {p} last {v}.", "A tour of {p} takes {v}."], "30 minutes; 45 minutes; 90 minutes"),
  attribute("language", ["Tours of {p} are in {v}.", "{p} is shown in {v}."], "English; French; Polish"),
  attribute(
    "loan",
    ["{p} is on loan until {v}.", "The loan of {p} ends on {v}."],
    "2026-10-01; 2027-02-15; 2027-06-30",
  ),
  attribute("wall", ["The walls of {p} are {v}.", "{p} has {v} walls."], "white; grey; green"),
  attribute("phone", ["The phone number of {p} is {v}.", "You reach {p} at {v}."], "555-0142; 555-0188; 555-0199"),
  attribute("visitors", ["{p} gets {v} visitors a day.", "The daily visitors of {p} number {v}."], "150; 400; 900"),
  attribute("light", ["{p} has large windows."], ""),
  attribute("mood", ["{p} is popular with families."], ""),
]

export const FRESH_THINGS =
  "the coin room; Gallery East; the print cabinet; Hall Aurora; the map room; Pavilion Sud; the cellar show; Long Gallery; the armoury; Rotunda; the glass wing; Studio Theatre; the sculpture court".split(
    "; ",
  )
