/** Written as held out, and looked at once: mistakes and omissions in it led to changes. Its rewordings share few words. */
import { type Attribute, attribute } from "./attribute.ts"

export const SEEN: readonly Attribute[] = [
  attribute(
    "budget",
    ["The monthly budget for {p} is {v}.", "{p} has a monthly budget of {v}.", "We spend at most {v} a month on {p}."],
    "$400; $1,200; $75; $3,000",
  ),
  attribute(
    "contact",
    ["Questions about {p} go to {v}.", "The contact for {p} is {v}.", "For {p}, ask {v}."],
    "Noor; Henrik; Priya Raman; Tomasz",
  ),
  attribute(
    "storage",
    ["{p} stores its data in {v}.", "The data of {p} is kept in {v}."],
    "Postgres; DynamoDB; SQLite; Cassandra",
  ),
  attribute(
    "retention",
    ["Logs of {p} are kept for {v}.", "We keep the logs of {p} for {v}.", "Log retention for {p} is {v}."],
    "14 days; 30 days; 90 days; six months",
  ),
  attribute(
    "room",
    ["The {p} stand-up takes place in {v}.", "The {p} stand-up is in {v}."],
    "room 204; room 118; the canteen; room 12",
  ),
  attribute(
    "meeting",
    ["The weekly review of {p} is on {v}.", "{p} is reviewed each {v}.", "We review {p} on {v}."],
    "Monday; Wednesday; Thursday; Friday",
  ),
  attribute(
    "version",
    ["{p} runs on Node {v}.", "The Node version of {p} is {v}.", "{p} needs Node {v}."],
    "18; 20; 22; 24",
  ),
  attribute("memory", ["{p} gets {v} of memory.", "The memory limit of {p} is {v}."], "512 MB; 2 GB; 768 MB; 4 GB"),
  attribute(
    "address",
    ["The dashboard of {p} is at {v}.", "{p}'s dashboard lives at {v}."],
    "https://a.example/x; https://b.example/y; https://c.example/z",
  ),
  attribute("cadence", ["{p} is deployed {v}.", "Deployments of {p} are {v}."], "daily; weekly; hourly; nightly"),
  attribute("coverage", ["The coverage goal of {p} is {v}.", "Tests of {p} must cover {v}."], "80%; 90%; 65%"),
  attribute(
    "colour",
    ["The accent colour of {p} is {v}.", "{p} uses {v} as its accent colour."],
    "teal; orange; purple",
  ),
  attribute("licence", ["{p} is licensed under {v}.", "The licence of {p} is {v}."], "MIT; Apache-2.0; GPL-3.0"),
  attribute("maker", ["{v} maintains {p}.", "{p} is maintained by {v}."], "Ingrid; Mateo; Yuki"),
  attribute("retries", ["{p} retries {v} times.", "The number of retries in {p} is {v}."], "three; five; eight"),
  attribute(
    "secret",
    ["The credentials of {p} are in {v}.", "{p} reads its credentials from {v}."],
    "Vault; 1Password; Doppler",
  ),
  attribute("chat", ["Alerts of {p} are posted to {v}.", "{p} alerts go to {v}."], "#ops; #alerts-red; #night-watch"),
  attribute(
    "expiry",
    ["The certificate of {p} expires on {v}.", "{p}'s certificate is valid until {v}."],
    "2026-08-01; 2027-01-15; 2026-12-24",
  ),
]

export const SEEN_THINGS =
  "Basalt; the scheduler; payroll; Juniper; the landing page; imageResizer; event_store; Monsoon; the intranet; Quartz; loyalty; the exporter; edge-proxy".split(
    "; ",
  )
