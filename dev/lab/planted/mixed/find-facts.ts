/** Looks for the facts in the messages that a model is sent. */
import { renderAttachment, textOf } from "@strata/core/messages"
import { countText } from "@strata/sim"
import type { MixedFact } from "./conversation.ts"

const CLOSE = 400 // characters within which all needles of a fact must occur

/** Facts found after one compaction. */
export interface FactsInView {
  readonly compactions: number
  readonly inView: number
  readonly missing: readonly string[]
  /** Replaced values in a line without the newest value. */
  readonly stale: readonly string[]
  readonly tokens: { readonly record: number; readonly all: number }
}

interface SentMessage {
  readonly content: unknown
}

export function findFacts(facts: readonly MixedFact[], sent: readonly SentMessage[], compactions: number): FactsInView {
  const view = sent.map(({ content }) => textIn(content)).join("\n")
  const current = facts.map((fact) => asOf(fact, compactions))
  const missing = current.filter(({ needles }) => !isInView(view, needles))
  const stale = current.filter((fact) => fact.was !== undefined && isStale(view, fact))
  return {
    compactions,
    inView: facts.length - missing.length,
    missing: missing.map(({ kind, needles }) => `${kind} (${needles.join(" … ")})`),
    stale: stale.map(({ kind, was }) => `${kind} (${was})`),
    tokens: { record: countText(recordIn(view)), all: countText(view) },
  }
}

/** The fact as of a given number of compactions. */
function asOf({ changesBefore = 1, was, ...fact }: MixedFact, compactions: number): MixedFact {
  if (compactions < changesBefore && was !== undefined) return { ...fact, needles: [was] }
  return was === undefined ? fact : { ...fact, was }
}

function isInView(view: string, [first = "", ...others]: readonly string[]): boolean {
  return positionsOf(view, first).some((at) => {
    const around = view.slice(Math.max(0, at - CLOSE), at + CLOSE)
    return others.every((other) => positionsOf(around, other).length > 0)
  })
}

/** Whether a replaced value is in view as if it were current. A list of deleted files shows that they are deleted. */
function isStale(view: string, { was, needles }: MixedFact): boolean {
  let isDeleted = false
  return view.split("\n").some((line) => {
    if (!line.startsWith("- ")) isDeleted = line === "Deleted:"
    return !isDeleted && positionsOf(line, was!).length > 0 && !needles.every((needle) => line.includes(needle))
  })
}

/** Positions of a needle that is not part of a longer name or number. */
function positionsOf(text: string, needle: string): readonly number[] {
  const isPart = /[\p{L}\p{N}_]/u
  const places: number[] = []
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const [before, after] = [text[at - 1] ?? "", text[at + needle.length] ?? ""]
    if (!(isPart.test(needle[0]!) && isPart.test(before)) && !(isPart.test(needle.at(-1)!) && isPart.test(after)))
      places.push(at)
  }
  return places
}

/** Texts, tool inputs and results, as a model reads them. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textIn).join("\n")
  const { text, input, content: inner } = Object(content) as Record<string, unknown>
  if (typeof text === "string") return text
  if (input !== undefined) return Object.values(Object(input)).map(String).join("\n")
  return inner === undefined ? "" : textIn(inner)
}

const MARK = "\0"
const BEGIN = textOf(renderAttachment({ type: "carried_facts", content: MARK }))
  .split(MARK)[0]!
  .trim()
const END = "</system-reminder>"

function recordIn(view: string): string {
  const from = view.lastIndexOf(BEGIN)
  if (from < 0) return ""
  const to = view.indexOf(END, from)
  return view.slice(from, to < 0 ? undefined : to)
}
