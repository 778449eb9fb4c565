/** Written before facts were compared by their attribute, in loose phrases as people say them, and first measured after it. */
import { type Attribute, attribute } from "./attribute.ts"

export const KITCHENS: readonly Attribute[] = [
  attribute("fish", ["{p} gets its fish from {v}.", "The fish supplier of {p} is {v}."], "Nordfang; Pescara; Old Quay"),
  attribute(
    "oven",
    ["In {p} we bake in {v}.", "The baking oven of {p} is {v}."],
    "the stone oven; the Rational; the deck oven",
  ),
  attribute(
    "linen",
    ["The linen of {p} is washed by {v}.", "{v} washes the linen for {p}."],
    "Blanca; Rein & Sons; the Harbour Laundry",
  ),
  attribute("orders", ["{p} takes orders until {v}.", "Last orders in {p} are at {v}."], "21:30; 10 pm; 22:45"),
  attribute("menu", ["The lunch menu of {p} costs {v}.", "You pay {v} for the lunch menu in {p}."], "$14; $17.50; $21"),
  attribute("covers", ["{p} serves {v} covers a night.", "We plan {p} for {v} covers a night."], "45; 80; 130"),
  attribute(
    "booking",
    ["Tables in {p} are booked through {v}.", "Bookings for {p} go through {v}."],
    "OpenTable; the front desk; Resy",
  ),
  attribute(
    "chef",
    ["{v} runs the pass in {p}.", "In {p} the pass is run by {v}."],
    "Chef Lorenz; Chef Imani; Chef Wu",
  ),
  attribute(
    "delivery",
    ["Vegetables for {p} come on {v}.", "{p} gets vegetables on {v}."],
    "Mondays; Tuesdays; Fridays",
  ),
  attribute(
    "knives",
    ["Knives of {p} are sharpened {v}.", "{p} has its knives sharpened {v}."],
    "weekly; monthly; daily",
  ),
  attribute("freezer", ["We keep the freezer of {p} at {v}.", "The freezer in {p} is set to {v}."], "-18; -20; -22"),
  attribute(
    "licence",
    ["The bar licence of {p} runs out on {v}.", "{p} has a bar licence until {v}."],
    "2026-11-30; 2027-04-30; 2028-01-15",
  ),
  attribute("tips", ["Tips in {p} are split {v}.", "{p} splits its tips {v}."], "evenly; by hours; by rank"),
  attribute("wine", ["The house wine of {p} is {v}.", "{p} pours {v} as its house wine."], "Riesling; Malbec; Verdejo"),
  attribute("manager", ["{p} is managed by {v}.", "The manager of {p} is {v}."], "Solveig; Raúl; Temple"),
  attribute(
    "allergen",
    ["The allergen list of {p} hangs in {v}.", "You find the allergen list of {p} in {v}."],
    "the corridor; the office; the cold room",
  ),
  attribute("uniform", ["Waiters in {p} wear {v}.", "The uniform of {p} is {v}."], "black; white; burgundy"),
  attribute("staff meal", ["The staff of {p} eats at {v}.", "Staff meals in {p} are at {v}."], "16:00; 4:45 pm; 17:15"),
  attribute("charm", ["{p} has a view of the canal."], ""),
  attribute("trouble", ["{p} struggles with mice."], ""),
]

export const KITCHENS_THINGS =
  "Osteria Luna; the bistro; the night kitchen; Brasserie Nord; the canteen; Marrow; Little Saigon; the tea room; Ember; the roof bar; Salt House; the bakery; Juniper Table".split(
    "; ",
  )
