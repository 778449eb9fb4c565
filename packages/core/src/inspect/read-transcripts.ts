/** A recorded conversation of any program, as entries in order. Reads its file and those of its sub-agents; writes nothing. */
import { lstat, readdir, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { ImportError, reasonOf } from "../base/errors.ts"
import { companionFiles } from "../import/companion-files.ts"
import { importTranscript } from "../import/import-file.ts"
import { placedEntries } from "../import/imported-entries.ts"
import type { ImportedConversation, ImportReport } from "../import/importer.ts"
import { keptTranscript } from "../import/kept/kept-transcript.ts"
import { openCodeExport } from "../import/opencode-sessions.ts"
import { damageSentences } from "../journal/damage-sentences.ts"
import { type DecisionEntry, type Entry, isDecision, isMessage } from "../journal/entries.ts"
import { isJournal, readJournalBytes } from "../journal/read-bytes.ts"
import { spendingOf } from "../team/spending.ts"
import { Links } from "../views/path.ts"

/**
 * What a journal's sub-agents spent and the journal does not say: a process that dies leaves the last responses only in the agent's own
 * journal.
 */
const EXTENSION = ".jsonl"

async function unrecordedSpending(file: string, entries: readonly Entry[]): Promise<readonly DecisionEntry[]> {
  const folder = join(dirname(file), basename(file, EXTENSION), "subagents")
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION))
  const recorded = new Set(entries.flatMap(responseIn))
  const missing: DecisionEntry[] = []
  for (const name of names.toSorted()) {
    const agent = basename(name, EXTENSION)
    const spent = spentBy(agent, await ownEntries(join(folder, name)))
    missing.push(...spent.filter(({ responseId }) => !recorded.has(responseId)))
  }
  return missing
}

/** A fork's journal begins with a copy of its parent's, which the parent paid for. */
async function ownEntries(path: string): Promise<readonly Entry[]> {
  const facts = await lstat(path)
  const bytes = facts.isFile() ? await readFile(path) : Buffer.alloc(0)
  if (!isJournal(bytes)) return []
  const { entries } = readJournalBytes(bytes)
  return entries.slice(entries.findLastIndex((entry) => isDecision(entry) && entry.subtype === "branched") + 1)
}

function spentBy(agent: string, entries: readonly Entry[]) {
  return entries.flatMap((entry) => {
    const spending = spendingOf(entry, agent)
    const place = { uuid: `${agent}:${entry.uuid}`, parentUuid: null, timestamp: entry.timestamp }
    return spending ? [{ ...spending, ...place }] : []
  })
}

function responseIn(entry: Entry): readonly string[] {
  if (isDecision(entry)) return entry.subtype === "spent" ? [entry.responseId] : []
  return entry.type === "assistant" ? [entry.message.id ?? entry.uuid] : []
}

/** A recorded conversation of any program. */
export interface Transcript {
  readonly file: string
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly report: ImportReport
  /** The main path of the conversation. */
  readonly entries: readonly Entry[]
  /** Abandoned branches and sub-agents: they cost money but do not fill this conversation's window. */
  readonly aside: readonly Entry[]
}

const JOURNAL_FORMAT = "strata"
const GZIP = Buffer.from([0x1f, 0x8b]) // how every gzip file begins
const PATTERN = /[*?[]/ // a shell passes a pattern on as it is where nothing matches

/** The conversations in a file: one, for most formats. */
export async function readTranscripts(file: string): Promise<readonly Transcript[]> {
  const session = openCodeExport(file)
  if (session !== undefined)
    return importTranscript({ name: basename(file), text: session }).map((found) => fromImport(file, found))
  const bytes = await readBytes(file)
  if (bytes.subarray(0, GZIP.length).equals(GZIP))
    throw unreadable("compressed", `${file} is compressed. Unpack it with gunzip, then name the unpacked file.`)
  const kept = await keptTranscript(file, bytes)
  if (kept) return importTranscript(kept).map((found) => fromImport(file, found))
  if (isJournal(bytes)) return [await fromJournal(file, bytes)]
  const text = bytes.toString("utf8")
  const companions = await companionFiles(file, text)
  return importTranscript({ name: basename(file), text, companions }).map((found) => fromImport(file, found))
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === "ENOENT")
      throw unreadable("no-file", PATTERN.test(file) ? `No file matches ${file}.` : `The file ${file} does not exist.`)
    if (reason === "EISDIR")
      throw unreadable("directory", `${file} is a directory. Name the files in it, such as ${file}/*.jsonl.`)
    throw new ImportError(`${file} cannot be read (${reason}).`, { cause: error })
  }
}

/** `code`: what the caller named, where it is no file to read. */
const unreadable = (code: "compressed" | "no-file" | "directory", message: string) => new ImportError(message, { code })

function fromImport(file: string, imported: ImportedConversation): Transcript {
  const { messages: _m, system: _system, tools: _tools, agents: _agents, spent: _spent, ...about } = imported
  return { file, ...about, ...placedEntries(imported) }
}

async function fromJournal(file: string, bytes: Buffer): Promise<Transcript> {
  const understood: Record<string, number> = {}
  const notUnderstood: Record<string, number> = {}
  const { entries: all, damaged, ...found } = readJournalBytes(bytes)
  for (const entry of all) understood[kindOf(entry)] = (understood[kindOf(entry)] ?? 0) + 1
  for (const { why } of damaged) notUnderstood[why] = (notUnderstood[why] ?? 0) + 1
  const links = new Links()
  for (const entry of all) links.add(entry)
  const places = links.placesOn(links.path())
  const session = all.findLast((entry) => isDecision(entry) && entry.subtype === "session")
  const { title, model, cwd } = (session ?? {}) as { title?: string; model?: string; cwd?: string }
  const entries = all.filter((entry) => places(entry) === "on-path")
  const aside = all.filter((entry) => places(entry) !== "on-path")
  const abandoned = aside.filter((entry) => isMessage(entry) && !entry.isSidechain).length
  const unrecorded = await unrecordedSpending(file, all)
  const hasUndone = entries.some((entry) => isDecision(entry) && entry.subtype === "undone")
  return {
    file,
    format: JOURNAL_FORMAT,
    id: basename(file, ".jsonl"),
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    report: {
      lines: sum(understood) + sum(notUnderstood),
      understood,
      notUnderstood,
      notes: [
        ...(abandoned > 0
          ? [`messages on abandoned branches${hasUndone ? " or of undone compactions" : ""}: ${abandoned}`]
          : []),
        ...(unrecorded.length > 0
          ? [`responses of sub-agents that only their own journals have: ${unrecorded.length}`]
          : []),
        ...damageSentences({ damagedLines: damaged, damagedCount: damaged.length, ...found }),
      ],
    },
    entries,
    aside: [...aside, ...unrecorded],
  }
}

const kindOf = (entry: Entry) => (isDecision(entry) ? `strata:${entry.subtype}` : entry.type)
const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)
