/** Attributes and phrasings that no rule was written with. They are measured, not looked at. */
import { type Attribute, attribute } from "./attribute.ts"

export const HELD_OUT: readonly Attribute[] = [
  attribute(
    "heap",
    ["The heap size of {p} is {v}.", "{p}'s heap size is {v}.", "{p} has a heap size of {v}."],
    "256 MB; 1 GB; 3 GB",
  ),
  attribute(
    "auditor",
    ["The auditor of {p} is {v}.", "{p} is audited by {v}."],
    "Zeynep; Olu; Marguerite; Stefan Brandt",
  ),
  attribute(
    "depot",
    ["Parts for {p} are shipped to {v}.", "We ship parts for {p} to {v}."],
    "Rotterdam; Gdansk; Porto; Trieste",
  ),
  attribute(
    "smoke",
    ["Smoke tests of {p} start at {v}.", "The smoke tests of {p} begin at {v}."],
    "06:00; 7 pm; 22:45",
  ),
  attribute(
    "quota",
    ["The upload quota of {p} is {v}.", "{p} has an upload quota of {v}."],
    "20 files; 55 files; 300 files",
  ),
  attribute("codename", ["The codename of {p} is {v}.", "{p}'s codename is {v}."], "Falcon; Heron; Puffin"),
  attribute(
    "cache",
    ["The cache of {p} lives for {v}.", "Cached pages of {p} expire after {v}."],
    "10 minutes; 2 hours; 45 seconds",
  ),
  attribute("engine", ["{p} is rendered with {v}.", "The renderer of {p} is {v}."], "Mustache; Handlebars; Liquid"),
  attribute(
    "window",
    ["The maintenance window of {p} is on {v}.", "{p}'s maintenance window is {v}."],
    "Saturdays; Wednesdays; Mondays",
  ),
  attribute(
    "desk",
    ["{v} answers support tickets for {p}.", "Support tickets for {p} are answered by {v}."],
    "Amira; Kofi; Lena",
  ),
  attribute("fee", ["The setup fee for {p} is {v}.", "{p} costs {v} to set up."], "$90; $140; $35"),
  attribute("currency", ["{p} is billed in {v}.", "Invoices for {p} are in {v}."], "euros; dollars; yen"),
  attribute(
    "archive",
    ["Old files of {p} are archived in {v}.", "We archive old files of {p} in {v}."],
    "Glacier; Backblaze; Wasabi",
  ),
  attribute("access", ["Guest access to {p} is {v}."], "enabled; disabled"),
  attribute(
    "entry",
    ["The entry file of {p} is {v}.", "{p} starts from {v}."],
    "src/boot.ts; lib/start.js; cmd/main.go",
  ),
  attribute("replicas", ["{p} runs with {v} replicas.", "The number of replicas of {p} is {v}."], "2; 4; seven"),
  attribute("shard", ["{p} is part of the autumn rollout."], ""),
  attribute("smell", ["{p} is hard to test."], ""),
]

export const HELD_OUT_THINGS =
  "Granite; the indexer; pricing; Marigold; the help centre; videoEncoder; order_book; Tundra; the wiki; Obsidian; referrals; the crawler; auth-proxy".split(
    "; ",
  )
