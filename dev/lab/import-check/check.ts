/** Compares an imported conversation with the facts read from its raw recording. Each difference is a sentence. */
import type { Entry, TokenCounts } from "@strata/core"
import { addCounts, NO_TOKENS } from "../../../packages/core/src/base/text.ts"
import { fileFate } from "../../../packages/core/src/views/record/artifacts.ts"
import { Views } from "../../../packages/core/src/views/views.ts"
import { listActiveBranch } from "../../../packages/transcripts/src/import/active-branch.ts"
import { importTranscript } from "../../../packages/transcripts/src/import/import-file.ts"
import { placedEntries } from "../../../packages/transcripts/src/import/imported-entries.ts"
import type { ImportedConversation } from "../../../packages/transcripts/src/import/importer.ts"
import { claudeCode } from "./claude-code.ts"
import { codex, copilot, gemini, openHands, pi, sweAgent } from "./other-programs.ts"
import { type Raw, type RecordedFacts, rawLines } from "./recorded.ts"

export interface Check {
  readonly name: string
  readonly format: string
  readonly userTexts: FoundCount
  readonly files: FoundCount
  readonly requests: { readonly recorded: number; readonly imported: number }
  readonly differences: readonly string[]
  /** Content that could not be read, with the reasons. */
  readonly notRead: readonly string[]
}

export interface FoundCount {
  readonly recorded: number
  readonly found: number
}

const READERS: Readonly<Record<string, (text: string) => readonly RecordedFacts[]>> = {
  "claude-code": (text) => [claudeCode(text)],
  codex: (text) => [codex(text)],
  pi: (text) => [pi(text)],
  copilot: (text) => [copilot(text)],
  gemini: (text) => [gemini(JSON.parse(text) as Raw)],
  "swe-agent": (text) => [sweAgent(JSON.parse(text) as Raw)],
  openhands: (text) => rawLines(text).map(openHands),
}

/** Characters of a message that the view of user messages stores. */
const COMPARED = 10_000

export function checkRecording(name: string, text: string): readonly Check[] {
  return importTranscript({ name, text }).map((imported, at) => {
    const recorded = READERS[imported.format]?.(text)[at]
    if (!recorded) throw new Error(`Recordings of ${imported.format} cannot be read a second time.`)
    return checkOne(name, imported, recorded)
  })
}

function checkOne(name: string, imported: ImportedConversation, recorded: RecordedFacts): Check {
  const views = viewsOf(imported)
  const words = new Set(views.words.messages.map(({ text }) => text.trim()))
  const aside = asideOf(imported)
  const missing = recorded.userTexts.filter((userTexts) => !words.has(userTexts.slice(0, COMPARED).trim()))
  const abandoned = missing.filter((userTexts) => aside.includes(userTexts.trim()))
  const lost = missing.filter((userTexts) => !abandoned.includes(userTexts))
  const changed = [...views.artifacts.files].filter(([, facts]) => fileFate(facts) !== "read").map(([path]) => path)
  const unlisted = [...new Set(recorded.changed)].filter((path) => !changed.some((one) => isSame(one, path)))
  const billed = Object.values(recorded.billed ?? {})
  const sum = (key: "requests" | "input" | "cacheRead" | "cacheWrite" | "output") =>
    billed.reduce((all, one) => all + one[key], 0)
  const lines = [...views.ledger.lines.values()]
  const counts = lines.map((line) => line.counts).reduce(addCounts, NO_TOKENS as TokenCounts)
  const requests = lines.reduce((all, line) => all + line.requests, 0)
  const money = [
    ["requests", sum("requests"), requests],
    ["uncached tokens", sum("input"), counts.input],
    ["tokens read from cache", sum("cacheRead"), counts.cacheRead],
    ["tokens written to cache", sum("cacheWrite"), counts.cacheWrite5m + counts.cacheWrite1h],
    ["output tokens", sum("output"), counts.output],
  ] as const
  const { report } = imported
  return {
    name,
    format: imported.format,
    userTexts: { recorded: recorded.userTexts.length, found: recorded.userTexts.length - missing.length },
    files: { recorded: new Set(recorded.changed).size, found: new Set(recorded.changed).size - unlisted.length },
    requests: { recorded: sum("requests"), imported: requests },
    differences: [
      ...abandoned.map((userTexts) => `on an abandoned branch: ${shown(userTexts)}`),
      ...lost.map((userTexts) => `a message that is not among the user's: ${shown(userTexts)}`),
      ...unlisted.map((path) => `a changed file that is not listed: ${path}`),
      ...(recorded.billed
        ? money.filter(([, is, was]) => is !== was).map(([what, is, was]) => `${what}: ${is} recorded, ${was} imported`)
        : []),
    ],
    notRead: [...Object.entries(report.notUnderstood).map(([kind, count]) => `${kind} (${count})`), ...report.notes],
  }
}

function viewsOf(imported: ImportedConversation): Views {
  const { cwd = "" } = imported
  const views = new Views({ family: "claude-5" })
  const { entries, aside } = placedEntries(imported)
  for (const entry of aside) views.apply(entry, "off-path")
  for (const entry of entries) views.apply(entry)
  const place = { uuid: "session", parentUuid: null, timestamp: new Date(0).toISOString() }
  views.apply({ type: "strata", subtype: "session", ...place, model: "", cwd } as Entry)
  return views
}

/** Messages of the user on branches that the user abandoned. */
function asideOf({ messages }: ImportedConversation): readonly string[] {
  const onPath = new Set(listActiveBranch(messages))
  return messages.flatMap((message) => {
    if (onPath.has(message) || message.type !== "user") return []
    const { content } = message.message
    const texts = typeof content === "string" ? [content] : content.flatMap((b) => (b.type === "text" ? [b.text] : []))
    return [...texts, texts.join("\n")].map((text) => text.trim())
  })
}

/** Whether two paths name the same file: a recording uses its full path or the end of it. */
const isSame = (whole: string, given: string): boolean => {
  const path = given.replace(/^\/([a-z])\//, (_, drive: string) => `${drive.toUpperCase()}:/`)
  return isEnd(whole.replaceAll("\\", "/"), path.replaceAll("\\", "/"))
}

const isEnd = (whole: string, path: string): boolean =>
  whole === path || whole.endsWith(`/${path.replace(/^(?:\.\/)+/, "")}`) || whole === path.replace(/\/+$/, "")

const shown = (text: string): string => JSON.stringify(text.slice(0, 100))
