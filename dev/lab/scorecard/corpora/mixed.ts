/**
 * Thirty facts of mixed kinds in one session of work: rules, decisions with their reason, open tasks, failures, findings, measured values,
 * locations, versions, people, and values that were changed. A third is stated by the user, a third by the agent, and a third is in tool
 * results.
 */
import type { Exchange } from "../../planted/work.ts"
import { work } from "../filler.ts"
import { assistant, type Corpus, type Fact, type PlainMessage, type ScoredSession, user } from "../session.ts"
import { exchangeMessages } from "./planted.ts"

const BETWEEN = 6

interface MixedFact extends Fact {
  readonly by: "user" | "agent" | "tool"
  readonly sentence: string
  readonly earlier?: string
}

const mixed = (by: MixedFact["by"], kind: string, sentence: string, ...needs: readonly string[]): MixedFact => ({
  ...{ id: needs[0]!, by, kind, sentence, needs },
})

const FACTS: readonly MixedFact[] = [
  mixed("user", "rule", "Never touch the tables of the tenant orchid without a snapshot.", "orchid", "snapshot"),
  mixed("user", "rule", "All new endpoints answer in CBOR, not in JSON.", "CBOR"),
  mixed("user", "preference", "Please keep commit messages below sixty characters.", "sixty characters"),
  mixed("user", "person", "Questions about the ledger go to Wanda Eriksen.", "Wanda Eriksen", "ledger"),
  mixed("user", "place", "The nightly dumps are in /srv/basalt/dumps/nightly.", "/srv/basalt/dumps/nightly"),
  mixed("user", "amount", "The storage bill must stay below $1,340 a month.", "$1,340"),
  {
    ...mixed("user", "changed", "The freeze starts on 14 May now.", "14 May"),
    earlier: "The freeze starts on 2 May.",
    stale: ["2 May"],
  },
  {
    ...mixed("user", "changed", "Use bun instead of yarn for scripts.", "bun"),
    earlier: "Use yarn for scripts.",
    stale: ["yarn"],
  },
  mixed("user", "ticket", "This work belongs to ticket QUARTZ-4471.", "QUARTZ-4471"),
  mixed(
    "user",
    "address",
    "The preview runs at https://preview.feldspar.dev:8443/app.",
    "https://preview.feldspar.dev:8443/app",
  ),
  mixed("agent", "decision", "I chose a ring buffer of 4093 slots, since a prime avoids aliasing.", "4093", "prime"),
  mixed(
    "agent",
    "decision",
    "I keep the writer single-threaded, because the lock cost more than it gained.",
    "single-threaded",
    "lock",
  ),
  mixed(
    "agent",
    "decision",
    "Retries stop after 7 attempts, so that the queue of Halyard is not flooded.",
    "7 attempts",
    "Halyard",
  ),
  mixed("agent", "open", "The migration 0042 has not been run yet.", "0042", "not been run"),
  mixed("agent", "open", "TODO: rename computeDrift to measureSkew in the worker.", "computeDrift", "measureSkew"),
  mixed("agent", "open", "Still open: the flag --strict-tz has no test.", "--strict-tz"),
  mixed("agent", "finding", "The leak comes from the listener that onResume adds twice.", "onResume", "twice"),
  mixed(
    "agent",
    "finding",
    "The slow query is the join over shipment_legs without an index.",
    "shipment_legs",
    "index",
  ),
  mixed("agent", "failure", "The upload fails with E_QUOTA_7731 when two jobs share a bucket.", "E_QUOTA_7731"),
  mixed("agent", "failure", "Downgrading libmica to 2.4.9 did not help.", "libmica", "2.4.9"),
  mixed("tool", "figure", "p95 of gather_tiles: 418.6 ms over 1200 runs", "418.6 ms"),
  mixed("tool", "hash", "deployed revision 9f3ce07 to the canary", "9f3ce07"),
  mixed("tool", "address", "listening on 10.44.7.19:6217", "10.44.7.19:6217"),
  mixed("tool", "place", "reading /etc/gneiss/gate.toml", "/etc/gneiss/gate.toml"),
  mixed("tool", "error", "panic: E_WHEEL_5521 in stage pack", "E_WHEEL_5521"),
  mixed("tool", "version", "resolved schist-core 14.2.0-rc.3", "14.2.0-rc.3"),
  mixed("tool", "pointer", "last good frame at 0x7fe2c91d", "0x7fe2c91d"),
  mixed("tool", "limit", "max_connections = 18743", "18743"),
  mixed("tool", "name", "the entry point is bootLatticeWorker", "bootLatticeWorker"),
  mixed("tool", "key", "config key telemetry.sampler.ratio is unset", "telemetry.sampler.ratio"),
]

export const MIXED: Corpus = {
  name: "mixed",
  about: "30 facts of mixed kinds in a piece of work",
  sessions: () => [mixedSession()],
}

function mixedSession(): ScoredSession {
  const inTurn = FACTS.map((fact, at) => ({ fact, at: (at * 11) % FACTS.length }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fact }) => fact)
  const earlier = FACTS.flatMap((fact) => (fact.earlier ? [user(fact.earlier), assistant("All right.")] : []))
  return {
    id: "mixed",
    messages: [
      ...earlier,
      ...inTurn.flatMap((fact, at) => [...exchangeFor(fact, at), ...(at % 3 === 0 ? work(1, 500 + at) : [])]),
    ],
    facts: FACTS.map(({ id, kind, needs, stale }) => ({ id, kind, needs, ...(stale ? { stale } : {}) })),
    between: (round) => work(BETWEEN, 600 + round * BETWEEN),
  }
}

function exchangeFor({ by, sentence }: MixedFact, at: number): readonly PlainMessage[] {
  if (by === "user") return [user(sentence), assistant("All right.")]
  if (by === "agent") return [user("Where do we stand with this part?"), assistant(sentence)]
  const lines = resultLines(work(1, 540 + at))
  lines.splice(lines.length >> 1, 0, `08:${String(at).padStart(2, "0")}:31 INFO ${sentence}`)
  const exchange: Exchange = {
    asks: [{ type: "text", text: "Check this part, please." }],
    answers: [{ type: "tool_use", id: `toolu_mixed_${at}`, name: "Bash", input: { command: `./check.sh ${at}` } }],
    result: { content: lines.join("\n") },
    ends: "That part is checked.",
  }
  return exchangeMessages(exchange)
}

const resultLines = (messages: readonly PlainMessage[]): string[] =>
  messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result")
    .flatMap(({ content }) => String(content).split("\n"))
