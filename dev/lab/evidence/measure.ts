/** Compacts a range and looks for a sample of its names: in the view, and in the result of one search. */
import { type Block, isText, isToolResult, isToolUse, openConversation, recallTool, textOf } from "@strata/core"
import { resultBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import { findMeasuredNames, nameFinder } from "../../../packages/transcripts/src/inspect/measured-names.ts"
import { inTemporaryDirectory } from "../../bench/measure.ts"
import { textSentIn } from "../score-compaction/statements.ts"
import type { JoinedRange } from "./ranges.ts"

const MODEL = "claude-opus-5-5"
const SAMPLE = 200 // maximum number of names of each kind
const FIRST_RESULTS = 5
const MIN_WORDS = 4
const QUERY_WORDS = 12 // taken from the line that a name is in
const HEAD_CHARACTERS = 2_000 // how much of a result some programs send to their summarizer
const VIEW_TOKENS = 25_000

/** Where a name first occurs in the range: in the user's or assistant's text, in a tool input, or in a result. */
const KINDS = ["stated", "typed", "result"] as const
type Kind = (typeof KINDS)[number]

interface Needle {
  readonly name: string
  readonly kind: Kind
  /** Words next to the name. */
  readonly query: string
}

export interface EvidenceFigures {
  readonly range: string
  readonly tokens: number
  readonly viewTokens: number
  readonly needles: Readonly<Record<Kind, number>>
  /** How many of the names each way of continuing still has. */
  readonly found: readonly { readonly way: string; readonly counts: Readonly<Record<Kind, number>> }[]
}

export function measureEvidence(range: JoinedRange): Promise<EvidenceFigures> {
  return inTemporaryDirectory(async (dir) => {
    const recall = recallTool()
    await using chat = await openConversation({
      ...{ model: MODEL, dir, cwd: dir, env: {}, id: "evidence", messages: range.messages },
      tools: [recall],
      settings: { memory: "off", models: { [MODEL]: { window: 2_000_000 } } },
    })
    await chat.compact({ routes: ["offline"] })
    const { messages } = await chat.prepare()
    const view = messages.map(({ content }) => textSentIn(content)).join("\n")
    const needles = sampleOf(range)
    const inView = new Set(needles.filter(({ name }) => nameFinder(view)(name)))
    const inReach = new Set(inView)
    for (const needle of needles) {
      if (inView.has(needle)) continue
      const { content } = await recall.execute({ search: needle.query })
      for (const handle of handlesIn(String(content)).slice(0, FIRST_RESULTS)) {
        const block = (await chat.recall(handle)) as Block | undefined
        if (block && nameFinder(textIn(block))(needle.name)) inReach.add(needle)
      }
    }
    const among = (has: (needle: Needle) => boolean) => countsOf(needles.filter(has))
    const inText = (text: string) => {
      const has = nameFinder(text)
      return among(({ name }) => has(name))
    }
    return {
      range: range.name,
      tokens: range.tokens,
      viewTokens: chat.accounting().total,
      needles: countsOf(needles),
      found: [
        { way: "in the view after the compaction", counts: among((needle) => inView.has(needle)) },
        {
          way: "in the view, or in one of the first 5 results of a search",
          counts: among((needle) => inReach.has(needle)),
        },
        { way: "newest messages only, as many tokens", counts: inText(newest(range, VIEW_TOKENS, () => true)) },
        { way: "input of a summariser that gets 2,000 characters of each result", counts: inText(headCut(range)) },
        { way: "newest messages of the user only", counts: inText(newest(range, VIEW_TOKENS, isByUser)) },
      ],
    }
  })
}

const countsOf = (needles: readonly Needle[]): Record<Kind, number> => ({
  stated: needles.filter(({ kind }) => kind === "stated").length,
  typed: needles.filter(({ kind }) => kind === "typed").length,
  result: needles.filter(({ kind }) => kind === "result").length,
})

/** Handles of the search results, best first. */
const handlesIn = (answer: string): readonly string[] =>
  [...answer.matchAll(/^([0-9a-f]{10}(?:\.\d+)*) · /gm)].map(([, handle]) => handle!)

/** Samples names evenly over the range, identically in every run. */
function sampleOf({ messages }: JoinedRange): readonly Needle[] {
  const all = new Map<string, Needle>()
  const lines = new Map<string, number>()
  for (const { content } of messages)
    for (const block of content as readonly Block[])
      for (const line of new Set(textIn(block).split("\n"))) {
        for (const name of findMeasuredNames(line)) {
          const query = neighbouringWords(name, line)
          lines.set(query, (lines.get(query) ?? 0) + 1)
          if (!all.has(name)) all.set(name, { name, kind: kindOf(block), query })
        }
      }
  return KINDS.flatMap((kind) => {
    // A line that occurs in many places, such as "Process exited with code 0", makes no useful query.
    const own = [...all.values()].filter(
      ({ query, ...needle }) => needle.kind === kind && lines.get(query) === 1 && query !== "",
    )
    const step = Math.max(1, Math.floor(own.length / SAMPLE))
    return own.filter((_, at) => at % step === 0).slice(0, SAMPLE)
  })
}

const kindOf = (block: Block): Kind => (isText(block) ? "stated" : isToolUse(block) ? "typed" : "result")

function textIn(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block))
    return Object.values(block.input as object)
      .map(String)
      .join("\n")
  return isToolResult(block) ? textOf(resultBlocks(block)) : ""
}

/** Words of the name's line, which a reader who looks for the name would still know. */
function neighbouringWords(name: string, line: string): string {
  const words = line.replaceAll(name, " ").match(/[\p{L}_]{3,}/gu) ?? []
  return words.length < MIN_WORDS ? "" : words.slice(0, QUERY_WORDS).join(" ")
}

type Ranged = JoinedRange["messages"][number]

const isByUser = ({ role, content }: Ranged) =>
  role === "user" && !(content as readonly Block[]).some((block) => isToolResult(block))

function newest({ messages }: JoinedRange, tokens: number, isWanted: (message: Ranged) => boolean): string {
  const estimator = createEstimator("claude-5")
  const texts: string[] = []
  let room = tokens
  for (const message of messages.toReversed()) {
    if (!isWanted(message)) continue
    const text = (message.content as readonly Block[]).map(textIn).join("\n")
    room -= estimator.text(text)
    if (room < 0) break
    texts.unshift(text)
  }
  return texts.join("\n")
}

const headCut = ({ messages }: JoinedRange): string =>
  messages
    .flatMap(({ content }) => content as readonly Block[])
    .map((block) => (isToolResult(block) ? textIn(block).slice(0, HEAD_CHARACTERS) : textIn(block)))
    .join("\n")

export function evidenceReport(all: readonly EvidenceFigures[]): string {
  const sum = (kind: Kind, of: (figures: EvidenceFigures) => Readonly<Record<Kind, number>>) =>
    all.reduce((total, figures) => total + of(figures)[kind], 0)
  const share = (at: number, kind: Kind) =>
    `${((100 * sum(kind, ({ found }) => found[at]!.counts)) / sum(kind, ({ needles }) => needles)).toFixed(1)}%`
  const sizes = all.map(({ viewTokens }) => viewTokens)
  return [
    `${all.length} ranges of ${Math.round(all[0]!.tokens / 1_000)}K tokens and more, joined from recordings; compacted to at most ${Math.max(...sizes).toLocaleString("en")} tokens`,
    `names: ${KINDS.map((kind) => `${sum(kind, ({ needles }) => needles)} ${LABELS[kind]}`).join(", ")}, by who used them first`,
    "",
    ["stated".padStart(72), "typed".padStart(9), "in results".padStart(12)].join(""),
    ...all[0]!.found.map(({ way }, at) =>
      [
        way.padEnd(66),
        share(at, "stated").padStart(6),
        share(at, "typed").padStart(9),
        share(at, "result").padStart(12),
      ].join(""),
    ),
  ].join("\n")
}

const LABELS: Readonly<Record<Kind, string>> = {
  stated: "stated by the user or the assistant",
  typed: "typed into tools",
  result: "only in results",
}
