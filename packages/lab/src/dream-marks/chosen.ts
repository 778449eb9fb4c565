/** What the reading of facts was written with. */
import { type Attribute, attribute } from "./attribute.ts"

export const CHOSEN: readonly Attribute[] = [
  attribute(
    "port",
    ["The port of {p} is {v}.", "{p} listens on port {v}.", "{p}'s port is {v}."],
    "5010; 5020; 8080; 9443",
  ),
  attribute(
    "place",
    ["The {p} server is in {v}.", "The {p} server is located in {v}."],
    "Frankfurt; Dublin; Oslo; Madrid",
  ),
  attribute(
    "restart",
    ["The {p} server is restarted on {v}.", "The {p} server is restarted every {v}."],
    "Sundays; Mondays; Fridays",
  ),
  attribute("owner", ["{p} is owned by {v}.", "The owner of {p} is {v}."], "Ana; Bo; Carla; Dmitri"),
  attribute("language", ["{p} is written in {v}."], "Rust; Go; Kotlin; Elixir"),
  attribute("timeout", ["The timeout of {p} is {v}.", "{p}'s timeout is {v}."], "30 seconds; 45 seconds; two minutes"),
  attribute("release", ["Releases of {p} are cut on {v}."], "Tuesdays; Thursdays; Wednesdays"),
  attribute("limit", ["The rate limit of {p} is {v} requests per minute."], "100; 250; 600"),
  attribute("backup", ["Backups of {p} run at {v}.", "Backups of {p} happen at {v}."], "03:00; 04:30; 23:15"),
  attribute("deadline", ["The deadline for {p} is {v}."], "2026-05-01; 2026-06-15; 2026-09-30"),
  attribute("branch", ["The default branch of {p} is {v}."], "main; trunk; develop"),
  attribute("flag", ["The debug flag of {p} is {v}."], "on; off"),
  attribute("watch", ["{p} is monitored with {v}."], "Grafana; Datadog"),
  attribute("speed", ["{p} is slow on small machines."], ""),
  attribute("age", ["The {p} server is older than the rack."], ""),
  attribute("part", ["{p} is part of the spring campaign."], ""),
]

export const CHOSEN_THINGS =
  "Orion; Vega; Lyra; Draco; Cygnus; the importer; the gateway; billing; search; Atlas; checkout; Hermes; the mailer".split(
    "; ",
  )
