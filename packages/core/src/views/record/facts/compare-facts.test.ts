import { expect, test } from "vitest"
import { compareFacts } from "./compare-facts.ts"
import { factWords, readFact } from "./fact.ts"

const compare = (one: string, other: string) => compareFacts(readFact(one), readFact(other))

test.each([
  ["The port is 80.", "The port is 8080."],
  ["The port is 5010.", "Actually the port is 5020."],
  ["Use tabs.", "Use spaces."],
  ["Use tabs for indentation.", "Use spaces for indentation."],
  ["Use tabs.", "Use spaces instead of tabs."],
  ["Indent with tabs.", "Use spaces for indentation."],
  ["Never push to main.", "Push to main."],
  ["Never push to main.", "You may push to main."],
  ["Answer in German.", "Reply in English."],
  ["Keep answers short.", "Give detailed answers."],
  ["The port of Orion is 5020.", "Orion listens on port 5021."],
  ["Ana leads the payments team.", "Bo leads the payments team."],
  ["The default branch is main.", "The default branch is trunk."],
  ["The timeout is 30 seconds in production.", "The timeout is 60 seconds in production."],
  ["The timeout of Orion is 30 seconds.", "The timeout of Orion is two minutes."],
  ["The feature flag beta is enabled.", "The feature flag beta is disabled."],
  ["The feature flag beta is on.", "The feature flag beta is off."],
  ["We use Jenkins.", "We no longer use Jenkins."],
  ["Prefer tabs over spaces.", "Prefer spaces over tabs."],
  ["Der Port ist 5010.", "Der Port ist 5020."],
  ["Verwende keine Tabs.", "Verwende Tabs."],
  ["I live in Berlin.", "I live in Hamburg."],
  ["The deadline for the migration is May 5.", "The deadline for the migration is 2026-06-01."],
  ["The API rate limit is 100 requests per minute.", "The API rate limit is 250 requests per minute."],
  ["Staging port: 5010", "The staging port is 5020."],
  ["Ana's birthday is on March 3.", "Ana's birthday is on March 4."],
])("L5-11 the same subject and attribute with another value contradict: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("contradicts")
})

test.each([
  ["The Orion server is in Frankfurt.", "The Orion server moved from Frankfurt to Dublin."],
  ["The Orion server is in Frankfurt.", "The Orion server moved to Dublin."],
  ["Releases are cut on Tuesdays.", "Releases are cut on Thursdays now."],
  ["We use npm.", "We now use pnpm."],
  ["The office is in Ghent.", "Since 2026-05-01 the office is in Leuven."],
])(
  "L5-11 another value replaces the earlier one where the newer sentence says that it changed: %s %s",
  (one, other) => {
    expect(compare(one, other)).toBe("contradicts")
    expect(compare(other, one)).not.toBe("contradicts")
  },
)

test.each([
  ["The Orion server is in Frankfurt.", "The Orion server is restarted Sundays."],
  ["The Orion server is in Frankfurt.", "The Vega server is in Frankfurt."],
  ["Answer in German.", "Answer in short sentences."],
  ["Ana owns Orion.", "Ana owns Vega."],
  ["The team uses Slack.", "The team uses Jira."],
  ["The primary database is postgres.", "The primary database is slow."],
  ["Sprint 12 ends on Friday.", "Sprint 13 ends on Friday."],
  ["The timeout is 30 seconds in production.", "The timeout is 30 seconds in staging."],
  ["The timeout is 30 seconds in production.", "The timeout is 60 seconds in staging."],
  ["Backups run at 03:00 on weekdays.", "Backups run at 05:00 on weekends."],
  ["Orion is owned by Ana.", "Orion is written in Go."],
  ["Orion talks to Vega.", "Orion talks to Lyra."],
  ["Ana met Bo on Tuesday.", "Ana met Bo on Friday."],
  ["The API rate limit is 100 requests per minute.", "The API timeout is 100 seconds."],
  ["The meeting room is free.", "The meeting room is blue."],
  ["Ana reports to Bo.", "Bo reports to Ana."],
  ["Deploy to staging.", "Deploy to production."],
  ["Orion depends on Redis.", "Orion depends on Kafka."],
  ["It is 80.", "It is slow."],
  ["Always run the linter before a commit.", "Always run the tests before a commit."],
  ["Write commit messages in English.", "Write documentation in German."],
  ["Ana's birthday is on March 3.", "Bo's birthday is on March 3."],
  ["Mateo maintains Juniper for partners.", "Actually, Mateo maintains Quartz for partners."],
  ["Atlas is owned by Bo.", "Search is owned by Bo."],
  ["We keep the logs of Quartz 2 for 90 days.", "We keep the logs of Quartz for 14 days."],
  ["We keep the billing logs in S3.", "We keep the search logs in S3."],
  ["Team A is on call.", "Team E is on call."],
  ["Idris keeps the key to Cedar.", "Idris keeps the key to Elm."],
  ["We ship parts for Obsidian to Gdansk.", "We ship parts for Marigold to Porto."],
  ["About four.", "About five."],
  ["The server of Atlas is slow.", "The server of Atlas is old."],
  ["Thunder runs next on 2026-06-21.", "Echo runs next on 2026-06-21."],
  ["Kaito rides Echo in races.", "Actually, Kaito rides Bramble in races."],
  ["The path leads to the mill.", "The road leads to the mill."],
  ["Orion manages sessions.", "Vega manages sessions."],
])("L5-11 what is about something else, or may be true as well, does not: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(["apart", "alike"]).toContain(relation)
})

test.each([
  ["The port of Orion is 5020.", "Orion's port is 5020."],
  ["Orion listens on port 5020.", "Orion runs on port 5020."],
  ["The port of Orion is 5020.", "Orion listens on port 5020."],
  ["By the way, releases are cut on Tuesdays.", "Releases are cut on Tuesday."],
  ["Never push to main.", "Please never push to main"],
  ["Don't push to main.", "Never push to main!"],
])("L5-11 the same in other words is the same: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("same")
})

test.each([
  ["The Orion server is in Frankfurt.", "The Orion server is in Dublin."],
  ["The team uses Slack for chat.", "The team uses Teams for chat."],
  ["Sprint 12 ends on Friday.", "Sprint 12 ends on Monday."],
  ["Backups run at 03:00.", "Backups run at 5 am."],
  ["Orion is written in Rust.", "Orion is written in Go."],
  ["端口是 5010。", "端口是 5020。"],
  ["The queue of payment-relay is RabbitMQ.", "The queue of payment-relay is orders.v2."],
  ["The on-call engineer for billing is Ana.", "The on-call engineer for billing is Bo Lindqvist."],
  ["The trailer of Echo is the double.", "The trailer of Echo is the old Ifor."],
  ["The grey gelding travels in the old Ifor.", "The grey gelding travels in the blue trailer."],
  ["Monsoon reads its orders from Kafka.", "Monsoon reads its orders from the nightly batch."],
  ["We deploy edge-proxy to Falkenstein.", "We deploy edge-proxy to eu-north-1."],
  ["Amira answers support tickets for the crawler.", "Kofi answers support tickets for the crawler."],
  ["The auditor of the wiki is Olu.", "The wiki is audited by Stefan Brandt."],
])("L5-11 what may be outdated is in doubt, and does not contradict: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("doubtful")
})

test.each([
  ["The auditor of the wiki is Olu.", "The wiki is audited by Olu."],
  ["The trainer of Echo is Bram.", "Bram trains Echo."],
  ["The opening time of the loft is 9 am.", "The loft opens at 09:00."],
  ["The licence of the crawler is Apache-2.0.", "The crawler is licensed under Apache-2.0."],
  ["Old files of Basalt are archived in Wasabi.", "We archive old files of Basalt in Wasabi."],
])("L5-11 a noun and the verb it comes from say the same: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("same")
})

test.each([
  ["The trainer of Ana is Bo.", "Ana trains Bo."],
  ["The opening time of the loft is 9 am.", "The closing time of the loft is 9 am."],
  ["The server of Atlas is Vega.", "Atlas serves Vega."],
  ["The opening time of the loft is 9 am.", "The loft does not open at 9 am."],
  ["Vega stores its logs in S3.", "Orion stores its logs in S3."],
])("L5-11 who does it to whom, and what is said of what, is not the same: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(["apart", "alike"]).toContain(relation)
})

test.each([
  ["Marlene wears shoe size 35.", "The shoe size of Marlene is 35."],
  ["The morning run of Theo takes 20 minutes.", "Theo runs for 20 minutes each morning."],
  ["Nora 2 takes bus 31 to school.", "The school bus of Nora 2 is 31."],
  ["Nora goes to bed at 8 pm.", "The bedtime of Nora is 20:00."],
  ["The swimming lesson of Clara is on Wednesdays.", "Clara swims on Wednesdays."],
  ["Whisper weighs 520 kg.", "The weight of Whisper is 520 kg."],
  ["Copper competes at level 5.", "The competition level of Copper is 5."],
  ["Echo is fed at 06:30.", "Feeding time for Echo is 06:30."],
  ["The insured value of Echo is $12,500.", "Echo is insured for $12500."],
  ["The closing day of Elm is Wednesday.", "Elm closes on Wednesdays."],
  ["A tour of the map room takes 30 minutes.", "Tours of the map room last 30 minutes."],
  ["The coin room is kept at a humidity of 45%.", "The humidity in the coin room is 45%."],
])("L5-11 the noun of an attribute and a verb that says little say the same: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("same")
  const changed = other.replace(/\d(?=\D*$)|Wednesdays/, (value) => (value === "Wednesdays" ? "Fridays" : "9"))
  for (const relation of [compare(one, changed), compare(changed, one)])
    expect(["contradicts", "doubtful"]).toContain(relation)
})

test.each([
  ["Copper is clipped monthly.", "Clipping of Copper in Lisbon happens monthly."],
  ["Atlas blocks port 80.", "The port of Atlas is 80."],
  ["The gate of Atlas opens on Mondays.", "The gate of Atlas is cleaned on Mondays."],
  ["The build of Atlas takes 5 minutes.", "The test of Atlas takes 5 minutes."],
  ["Ana trains Bo.", "The trainer of Ana is Bo."],
  ["The school bus of Nora 2 is 31.", "Nora takes bus 31 to school."],
  ["Actually, O'Brien does the plumbing in Villa Rosa.", "O'Brien does the plumbing in Mill House."],
])("L5-11 what differs in more than a verb that says little is not the same: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)])
    expect(["same", "contradicts"]).not.toContain(relation)
})

test.each([
  ["Mr. Ogun teaches Ada piano.", "Ms. Falk teaches Ada piano."],
  ["Clara is looked after by Mina.", "Greta looks after Clara."],
  ["Ana plays for Rovers.", "Update: Ana plays for United."],
  ["The path for Finn leads to the lake.", "The path for Finn leads to the chapel."],
])("L5-11 another value that both could have is in doubt: %s %s", (one, other) => {
  for (const relation of [compare(one, other), compare(other, one)]) expect(relation).toBe("doubtful")
})

test.each(Object.getOwnPropertyNames(Object.prototype))("L5-11 a word that objects have is a word: %s", (word) => {
  const older = readFact(`The ${word} is 5, and ${word} takes ${word}.`)
  expect(compareFacts(older, readFact(`The ${word} is now 7.`))).not.toBe("same")
  expect(factWords(older).every(({ stem }) => typeof stem === "string")).toBe(true)
})
