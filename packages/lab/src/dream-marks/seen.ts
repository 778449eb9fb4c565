/** Written as held out, and then looked at: omissions in the first half and mistakes in both led to changes. Many rewordings share few words. */
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

export const SEEN_THINGS =
  "Basalt; the scheduler; payroll; Juniper; the landing page; imageResizer; event_store; Monsoon; the intranet; Quartz; loyalty; the exporter; edge-proxy; Granite; the indexer; pricing; Marigold; the help centre; videoEncoder; order_book; Tundra; the wiki; Obsidian; referrals; the crawler; auth-proxy".split(
    "; ",
  )
